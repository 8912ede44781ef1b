/// A number of a JSON document: its text is kept, so that a value nobody changed is written as it
/// was read.
public struct JSONNumber: Sendable {
    /// The text, which follows JSON's grammar for numbers.
    public let text: String

    /// A number from a text that is known to follow the grammar.
    init(checkedText text: String) { self.text = text }

    /// A number by its shortest text that reads back as the same value; nil if it is infinite or
    /// not a number.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        // Whole numbers without a fraction, as people write them.
        if value.magnitude < 1e15, value == value.rounded(), !(value == 0 && value.sign == .minus) {
            text = String(Int64(value))
        } else {
            text = value.description
        }
    }

    /// A whole number.
    public init(_ value: Int) { text = String(value) }

    /// The nearest 64-bit real; infinite where the text is beyond all of them.
    public var value: Double { Double(text) ?? .infinity }

    /// The value if it is whole and a 53-bit integer.
    public var integer: Int? {
        if let exact = Int(text), exact.magnitude < 1 << 53 { return exact }
        let value = value
        guard value.magnitude < 0x1p53, value == value.rounded() else { return nil }
        return Int(value)
    }
}

extension JSONNumber: Hashable {
    /// Equal texts, or equal values as far as 64-bit reals tell whole numbers apart.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        if left.text == right.text { return true }
        let value = left.value
        return value == right.value && value.magnitude < 0x1p53
    }

    /// Hashes what makes numbers equal: of those whose value may be that of many other texts, the
    /// text, so that a file cannot hold very many of one hash.
    public func hash(into hasher: inout Hasher) {
        let value = value
        if value.magnitude < 0x1p53 { hasher.combine(value) } else { hasher.combine(text) }
    }
}
