/// A word and a number that mean a part, such as `torus.2`.
struct PartLabel: Hashable {
    /// What is counted.
    let kind: String
    /// Which of those it is, from 1.
    let number: Int

    init(_ kind: String, _ number: Int) {
        self.kind = kind
        self.number = number
    }

    /// As it is typed.
    var text: String { "\(kind).\(number)" }
}

/// Finds parts by their names and labels.
///
/// The first ones are looked for among all parts, more in tables that are made then, each when it is
/// needed: an edit means one part or two, and a table takes longer than all else it does. More parts
/// can be put in at the end.
final class PartTable {
    private static let looksWithoutTable = 8

    private(set) var parts: [PartIndex.Part]
    private var looks = 0
    private var named: [String: [Int]]?
    private var namedInSmall: [String: [Int]]?
    private var labelled: [PartLabel: Int]?

    init(_ parts: [PartIndex.Part]) { self.parts = parts }

    /// Makes room for so many parts.
    func reserve(_ count: Int) { parts.reserveCapacity(count) }

    /// Puts a part in after all others.
    func append(_ part: PartIndex.Part) {
        let index = parts.count
        parts.append(part)
        labelled?[part.label] = index
        if let other = part.otherLabel { labelled?[other] = index }
        guard !part.name.isEmpty else { return }
        named?[part.name, default: []].append(index)
        namedInSmall?[part.name.lowercased(), default: []].append(index)
    }

    /// Calls a part otherwise.
    func rename(_ index: Int, _ name: String) {
        let old = parts[index].name
        parts[index].name = name
        named?.move(index, from: old, to: name)
        namedInSmall?.move(index, from: old.lowercased(), to: name.lowercased())
    }

    /// The parts of a name, in order; none without a name.
    func places(of name: String) -> [Int] {
        guard !name.isEmpty else { return [] }
        guard isWorthTable else { return parts.indices.filter { parts[$0].name == name } }
        if named == nil { named = table { $0 } }
        return named?[name] ?? []
    }

    /// The parts whose name in small letters is this one, in order.
    func places(ofSmall lower: String) -> [Int] {
        guard isWorthTable else { return parts.indices.filter { parts[$0].isCalled(lower) } }
        if namedInSmall == nil { namedInSmall = table { $0.lowercased() } }
        return namedInSmall?[lower] ?? []
    }

    /// The part that a label means; nil if none has it.
    func place(of label: PartLabel) -> Int? {
        guard isWorthTable else {
            return parts.firstIndex { $0.label == label || $0.otherLabel == label }
        }
        if labelled == nil {
            var places: [PartLabel: Int] = [:]
            for (index, part) in parts.enumerated() {
                places[part.label] = index
                if let other = part.otherLabel { places[other] = index }
            }
            labelled = places
        }
        return labelled?[label]
    }

    /// Whether this is not one of the first looks.
    private var isWorthTable: Bool {
        looks += 1
        return looks > PartTable.looksWithoutTable
    }

    private func table(_ key: (String) -> String) -> [String: [Int]] {
        var places: [String: [Int]] = [:]
        for (index, part) in parts.enumerated() where !part.name.isEmpty {
            places[key(part.name), default: []].append(index)
        }
        return places
    }
}

extension [String: [Int]] {
    /// Takes a place from one name to another.
    fileprivate mutating func move(_ place: Int, from old: String, to new: String) {
        self[old]?.removeAll { $0 == place }
        guard !new.isEmpty else { return }
        self[new, default: []].append(place)
        self[new]?.sort()
    }
}

extension PartIndex.Part {
    /// Whether its name in small letters is this one.
    fileprivate func isCalled(_ lower: String) -> Bool {
        // Small letters of ASCII are as long as the others, so most names need not be made small.
        let isAsLong = name.utf8.count == lower.utf8.count
        guard isAsLong || !name.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return !name.isEmpty && name.lowercased() == lower
    }
}
