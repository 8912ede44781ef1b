import Documents

/// Makes the edits of a script one after the other on a document of many parts.
///
/// Most lines of long scripts mean one part by what it is called, or give values to a few, put one in,
/// or mean none. Such an edit is made on a document of those parts alone, or of no part, and what became
/// of them is put in place: so a line takes no longer the more parts there are. (After one is taken out
/// the others are numbered anew.) Wherever that could say something else, errors included, the edit is
/// made on the whole document.
struct PartRun<Document: PartedDocument> {
    private(set) var document: Document
    /// How the parts are found, as long as none was moved or removed.
    private var found: Found?

    private struct Found {
        var index: PartIndex
        var places: [Int?]
        var freeNames: FreeNames?

        init(_ document: Document) {
            (index, places) = document.found
        }
    }

    init(_ document: Document) { self.document = document }

    /// Makes an edit and tells what changed by it. After an error it may be half made.
    mutating func make(_ edit: Edit) throws(EditError) -> [Change] {
        if let changes = makeAlone(edit) { return changes }
        if !edit.verb.keepsNames { found = nil }
        return try document.make(edit)
    }

    private mutating func makeAlone(_ edit: Edit) -> [Change]? {
        guard edit.verb.types.contains(Document.type), edit.words.count > 1 else { return nil }
        switch edit.verb.name {
        case "camera", "background", "title": return changeBare(edit)
        case "set", "unset":
            return isAboutParts(edit.words[1])
                ? withFound { $0.change(edit, &$1) } : changeBare(edit)
        case "move", "rotate", "scale", "color", "text", "rename":
            return withFound { $0.change(edit, &$1) }
        case "add": return withFound { $0.add(edit, &$1) }
        case "remove": return remove(edit)
        default: return nil
        }
    }

    /// Does something with what is known of the parts; held by one only, that is changed in place.
    private mutating func withFound(_ body: (inout PartRun, inout Found) -> [Change]?) -> [Change]?
    {
        var parts = found ?? Found(document)
        found = nil
        defer { found = parts }
        return body(&self, &parts)
    }

    /// Whether a path leads to no key of the document itself.
    private func isAboutParts(_ path: String) -> Bool {
        !Document.reserved.contains(path.prefix { $0 != "." && $0 != "=" }.lowercased())
    }

    /// Makes an edit on the document without its parts.
    private mutating func changeBare(_ edit: Edit) -> [Change]? {
        var bare = document.holding([])
        guard let changes = try? bare.make(edit), bare.parts.isEmpty else { return nil }
        document = bare.holding(document.parts)
        return changes
    }

    /// Makes an edit on the parts it means.
    private mutating func change(_ edit: Edit, _ parts: inout Found) -> [Change]? {
        guard let (numbers, words) = meant(by: edit, parts.index) else { return nil }
        let places = numbers.compactMap { parts.places[$0] }
        guard places.count == numbers.count else { return nil }
        let old = places.map { document.parts[$0] }
        let outlines = old.map { Document.outline(of: $0) }
        var alone = document.holding(old)
        // A name with a dot could be taken for a path.
        guard !outlines.contains(where: { $0.name.contains(".") }),
            (try? alone.make(edit.with(words))) != nil, alone.parts.count == old.count
        else { return nil }
        let new = alone.parts
        if new == old { return [] }
        let former = numbers.map { parts.index.path(of: $0) }
        let newOutlines = new.map { Document.outline(of: $0) }
        if !zip(outlines, newOutlines).allSatisfy({ $0.isExactly($1) }) {
            // Numbers stay where kinds do. What is called as the part is for a moment in the same
            // edit, or afterwards, may be an error.
            let (outline, newOutline) = (outlines[0], newOutlines[0])
            guard numbers.count == 1, outline.kind == newOutline.kind,
                edit.verb.name == "rename" || words.count == 2,
                newOutline.name == outline.name
                    || !parts.index.hasPart(named: newOutline.name)
            else { return nil }
            parts.index.rename(numbers[0], newOutline.name)
            parts.freeNames = nil
        }
        return numbers.indices.flatMap { index in
            document.put(new[index], at: places[index])
            let path = parts.index.path(of: numbers[index])
            return Document.changes(from: old[index], to: new[index]) {
                "\($0 == Document.nameKey ? former[index] : path).\($0)"
            }
        }
    }

    /// Takes out the one part an edit means, if its name says which of all it is.
    private mutating func remove(_ edit: Edit) -> [Change]? {
        guard edit.words.count == 2 else { return nil }
        let parts = found ?? Found(document)
        guard let number = meant(by: edit, parts.index)?.parts.first,
            let place = parts.places[number], parts.index.isNamed(number)
        else {
            found = parts
            return nil
        }
        found = nil
        let path = parts.index.path(of: number)
        let old = document.remove(at: place)
        return [Change(.part, path, before: Document.words(of: old), after: nil)]
    }

    /// The parts an edit means, in order, and its words for a document that holds no others; nil if it
    /// means none, or what else only the whole document tells.
    private func meant(by edit: Edit, _ index: PartIndex) -> (parts: [Int], words: [String])? {
        var arguments = Arguments(edit)
        var pairs: [(path: String, value: String?)] = []
        switch edit.verb.name {
        case "set":
            guard let found = try? arguments.assignments() else { return nil }
            pairs = found.map { ($0.path, $0.value) }
        case "unset": pairs = edit.words.dropFirst().map { ($0, nil) }
        default:
            let word = edit.words[1]
            guard KeyValue(word) == nil, isAboutParts(word), let part = try? index.find(word) else {
                return nil
            }
            return ([part], [edit.verb.name, "1"] + edit.words.dropFirst(2))
        }
        var keys: [(part: Int, text: String)] = []
        for (path, value) in pairs {
            guard isAboutParts(path), let (part, key) = try? index.split(path) else { return nil }
            keys.append((part, value.map { "\(key)=\($0)" } ?? key))
        }
        let parts = Set(keys.map(\.part)).sorted()
        // What is called otherwise for a moment may be in the way of others.
        let isNaming = keys.contains { key in
            PartIndex.nameKeys.contains(key.text.prefix { $0 != "=" }.lowercased())
        }
        guard parts.count == 1 || !isNaming else { return nil }
        let numbers = Dictionary(uniqueKeysWithValues: zip(parts, 1...))
        return (parts, [edit.verb.name] + keys.map { "\(numbers[$0.part] ?? 0).\($0.text)" })
    }

    /// Makes a part and puts it after all others.
    private mutating func add(_ edit: Edit, _ parts: inout Found) -> [Change]? {
        var alone = document.holding([])
        guard parts.index.count < Document.mostParts, (try? alone.make(edit)) != nil,
            alone.parts.count == 1
        else { return nil }
        var new = alone.parts[0]
        let name = Document.outline(of: new).name
        if parts.index.hasPart(named: name) {
            let pairs = edit.words.dropFirst(2).map { KeyValue($0)?.key.lowercased() }
            guard !pairs.contains(nil), !pairs.contains("name") else { return nil }
            var names = parts.freeNames ?? FreeNames(taken: parts.index.names)
            guard let renamed = Document.renamed(new, names.take(name)) else { return nil }
            new = renamed
            parts.freeNames = names
        } else {
            parts.freeNames?.use(name)
        }
        let place = document.parts.count
        document.put(new, at: place)
        let outline = Document.outline(of: new)
        parts.index.append(outline)
        parts.places.append(outline.isCounted ? place : nil)
        let path = parts.index.path(of: parts.index.count - 1)
        return [Change(.part, path, before: nil, after: Document.longWords(of: new))]
    }
}

extension Edit {
    /// The same verb with other words after it.
    fileprivate func with(_ words: [String]) -> Edit {
        Edit(verb: verb, words: words, line: line)
    }
}
