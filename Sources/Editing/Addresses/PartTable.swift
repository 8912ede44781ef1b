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
/// The first ones are looked for among all parts, more in tables that are made then: an edit means
/// one part or two, and a table for each would take longer than all else it does. More parts can be
/// put in at the end.
final class PartTable {
    private static let looksWithoutTable = 8

    private(set) var parts: [PartIndex.Part]
    private var looks = 0
    private var tables: Tables?

    /// The places of the parts by all that they can be found by.
    private struct Tables {
        var named: [String: [Int]] = [:]
        var namedInSmall: [String: [Int]] = [:]
        var labelled: [PartLabel: Int] = [:]

        mutating func insert(_ part: PartIndex.Part, at index: Int) {
            labelled[part.label] = index
            if let other = part.otherLabel { labelled[other] = index }
            insert(part.name, of: index)
        }

        mutating func insert(_ name: String, of index: Int) {
            guard !name.isEmpty else { return }
            named[name, default: []].append(index)
            namedInSmall[name.lowercased(), default: []].append(index)
        }

        mutating func rename(_ index: Int, from old: String, to new: String) {
            named[old]?.removeAll { $0 == index }
            namedInSmall[old.lowercased()]?.removeAll { $0 == index }
            insert(new, of: index)
            named[new]?.sort()
            namedInSmall[new.lowercased()]?.sort()
        }
    }

    init(_ parts: [PartIndex.Part]) { self.parts = parts }

    /// Makes room for so many parts.
    func reserve(_ count: Int) { parts.reserveCapacity(count) }

    /// Puts a part in after all others.
    func append(_ part: PartIndex.Part) {
        tables?.insert(part, at: parts.count)
        parts.append(part)
    }

    /// Calls a part otherwise.
    func rename(_ index: Int, _ name: String) {
        tables?.rename(index, from: parts[index].name, to: name)
        parts[index].name = name
    }

    /// The parts of a name, in order; none without a name.
    func places(of name: String) -> [Int] {
        guard !name.isEmpty else { return [] }
        if let tables = nextLook() { return tables.named[name] ?? [] }
        return parts.indices.filter { parts[$0].name == name }
    }

    /// The parts whose name in small letters is this one, in order.
    func places(ofSmall lower: String) -> [Int] {
        if let tables = nextLook() { return tables.namedInSmall[lower] ?? [] }
        return parts.indices.filter { parts[$0].isCalled(lower) }
    }

    /// The part that a label means; nil if none has it.
    func place(of label: PartLabel) -> Int? {
        if let tables = nextLook() { return tables.labelled[label] }
        return parts.firstIndex { $0.label == label || $0.otherLabel == label }
    }

    /// The tables, if this is not one of the first looks.
    private func nextLook() -> Tables? {
        looks += 1
        guard looks > PartTable.looksWithoutTable else { return nil }
        if let tables { return tables }
        var made = Tables()
        for (index, part) in parts.enumerated() { made.insert(part, at: index) }
        tables = made
        return made
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
