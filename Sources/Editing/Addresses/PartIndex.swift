import Documents

/// Finds the parts of a document by names, numbers and labels.
///
/// Numbers count from 1 the parts that `noun` names, all others need a label such as `group.1`.
/// A name is found as it is written, or in any case if that is not ambiguous. In double quotes it is
/// a name whatever it says otherwise.
struct PartIndex {
    /// What is known of a part before it is numbered.
    struct Outline: Hashable {
        /// The name; empty if it has none.
        var name: String
        /// What it is, as labels say it; nil if nothing is counted so.
        var kind: String?
        /// Whether it is one of those that `noun` names.
        var isCounted = true

        /// Whether both say the same, the name byte by byte.
        func isExactly(_ other: Outline) -> Bool {
            self == other && name.isExactly(other.name)
        }
    }

    /// A part: what it is called and the labels that mean it.
    struct Part {
        /// The name; empty if it has none.
        var name: String
        /// The label that is shown, such as `solid.1`.
        var label: PartLabel
        /// A second one, such as `torus.1`.
        var otherLabel: PartLabel?
    }

    /// Bytes of the longest name that is shown as a path: comments of slides can be prose.
    private static let longestPathName = 48

    private let noun: String
    private let kinds: [String]
    private let reserved: Set<String>
    private let table: PartTable
    /// How many parts of each kind there are, and of those that `noun` names.
    private var counts: [(kind: String, count: Int)] = []

    private var parts: [Part] { table.parts }

    /// An index of parts. Labels begin with one of the kinds. Names that are `reserved`
    /// are not shown as paths.
    init(_ parts: [Outline], noun: String, kinds: [String], reserved: Set<String>) {
        self.noun = noun
        self.kinds = kinds
        self.reserved = reserved
        table = PartTable([])
        table.reserve(parts.count)
        for part in parts { append(part) }
    }

    /// Puts a part in after all others.
    mutating func append(_ part: Outline) {
        let ofKind = part.kind.map { nextLabel($0) }
        let ofNoun = part.isCounted ? nextLabel(noun) : nil
        guard let label = ofNoun ?? ofKind else { return }
        table.append(
            Part(name: part.name, label: label, otherLabel: ofNoun == nil ? nil : ofKind))
    }

    /// Calls a part otherwise.
    func rename(_ index: Int, _ name: String) { table.rename(index, name) }

    /// The keys by which selectors mean names.
    static let nameKeys: Set = ["name", "comment"]

    /// Whether a part has this name, in which line ends, tabs and backslashes are written out.
    func isCalled(_ index: Int, _ name: String) -> Bool {
        EscapedText.escaped(parts[index].name) == name
    }

    /// Whether a part has a name that no other has.
    func isNamed(_ index: Int) -> Bool { table.places(of: parts[index].name).count == 1 }

    private mutating func nextLabel(_ kind: String) -> PartLabel {
        // They are so few that a table would take longer.
        guard let index = counts.firstIndex(where: { $0.kind == kind }) else {
            counts.append((kind, 1))
            return PartLabel(kind, 1)
        }
        counts[index].count += 1
        return PartLabel(kind, counts[index].count)
    }

    private func count(of kind: String) -> Int { counts.first { $0.kind == kind }?.count ?? 0 }

    /// How many parts there are.
    var count: Int { parts.count }
    /// The names in use.
    var names: Set<String> { Set(parts.map(\.name)) }

    /// The path of a part: its name if that means it and nothing else, or its first label.
    func path(of index: Int) -> String {
        let part = parts[index]
        let isPlain =
            table.places(of: part.name).count == 1 && !reserved.contains(part.name.lowercased())
            && part.name.utf8.count <= PartIndex.longestPathName
            && part.name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == " "
                    || $0 == "-" || $0 == "_"
            } && !part.name.hasPrefix(" ") && !part.name.hasSuffix(" ")
            && Int(part.name) == nil
        return isPlain ? part.name : part.label.text
    }

    /// The part of a word.
    func find(_ word: String) throws(EditError) -> Int {
        let quoted = QuotedName.leading(word[...]).flatMap { $0.rest.isEmpty ? $0.name : nil }
        if let quoted, let index = try part(named: quoted) { return index }
        if let index = try lookUp(word) { return index }
        throw unknown(quoted ?? word)
    }

    /// Whether something is called exactly so.
    func hasPart(named name: String) -> Bool { !table.places(of: name).isEmpty }

    /// The part that a path begins with and the rest of the path; nil if it begins with none.
    func split(_ path: String) throws(EditError) -> (index: Int, rest: String)? {
        let quoted = QuotedName.leading(path[...])
        if let quoted, quoted.rest.first != "=", let index = try part(named: quoted.name) {
            return (index, String(quoted.rest.unicodeScalars.dropFirst()))
        }
        // From the longest beginning to the shortest, as names may hold dots.
        var end = path.endIndex
        while true {
            let word = String(path[..<end])
            if let index = try lookUp(word) {
                return (index, end == path.endIndex ? "" : String(path[path.index(after: end)...]))
            }
            guard let dot = path[..<end].lastIndex(of: "."), dot > path.startIndex else {
                if word.lowercased() == noun { throw unnumbered(at: path) }
                if let quoted { throw unknown(quoted.name) }
                return nil
            }
            end = dot
        }
    }

    /// The error for a word that means no part.
    func unknown(_ word: String) -> EditError {
        let names = Set(parts.map(\.name)).subtracting([""]).sorted() + parts.map(\.label.text)
        return EditError(
            .notFound, at: word.isEmpty ? noun : word,
            parts.isEmpty
                ? "there is no \(noun) here" : NearNames.unknown(noun, word, among: names))
    }

    /// The error for the word for a part without a number.
    private func unnumbered(at path: String) -> EditError {
        let count = count(of: noun)
        return EditError(
            .notFound, at: path,
            count == 0
                ? "there is no \(noun) here"
                : "say which \(noun): by its name, or by a number from \(noun).1 to \(noun).\(count)"
        )
    }

    private func lookUp(_ word: String) throws(EditError) -> Int? {
        if let number = Int(word) { return try labelled(noun, number) }
        let words = word.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        if words.count == 2, kinds.contains(String(words[0])), let number = Int(words[1]) {
            return try labelled(String(words[0]), number)
        }
        return try part(named: word)
    }

    /// The part of a name; nil if nothing is called so.
    private func part(named name: String) throws(EditError) -> Int? {
        var found = table.places(of: name)
        if found.isEmpty {
            let lower = name.lowercased()
            found = table.places(ofSmall: lower)
        }
        guard found.count <= 1 else {
            let labels = found.prefix(8).map { parts[$0].label.text }.joined(separator: ", ")
            throw EditError(
                .ambiguous, at: name,
                "\(found.count) parts are called so; use one of \(labels), or name=\(name) for all")
        }
        return found.first
    }

    /// The part of a label such as `torus.2`.
    private func labelled(_ kind: String, _ number: Int) throws(EditError) -> Int {
        if let index = table.place(of: PartLabel(kind, number)) { return index }
        let count = count(of: kind)
        throw EditError(
            .notFound, at: "\(kind).\(number)",
            count == 0
                ? "there is no \(kind) here"
                : "there is no \(kind) \(number); the last here is \(kind).\(count)")
    }
}
