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
/// The first ones are looked for among all parts, more in tables that are made then: an edit of a
/// script means one part or two, and a table for each would take longer than all else it does.
final class PartTable {
    private static let looksWithoutTable = 8

    private let parts: [PartIndex.Part]
    private var looks = 0

    init(_ parts: [PartIndex.Part]) { self.parts = parts }

    private lazy var named: [String: [Int]] = Dictionary(grouping: parts.indices) {
        parts[$0].name
    }

    private lazy var labelled: [PartLabel: Int] = {
        var labelled: [PartLabel: Int] = [:]
        for (index, part) in parts.enumerated() {
            labelled[part.label] = index
            if let other = part.otherLabel { labelled[other] = index }
        }
        return labelled
    }()

    /// The parts of a name, in order; none without a name.
    func places(of name: String) -> [Int] {
        guard !name.isEmpty else { return [] }
        looks += 1
        guard looks <= PartTable.looksWithoutTable else { return named[name] ?? [] }
        return parts.indices.filter { parts[$0].name == name }
    }

    /// The part that a label means; nil if none has it.
    func place(of label: PartLabel) -> Int? {
        looks += 1
        guard looks <= PartTable.looksWithoutTable else { return labelled[label] }
        return parts.firstIndex { $0.label == label || $0.otherLabel == label }
    }
}
