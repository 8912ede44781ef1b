/// A JSON document or a part of it. Objects keep the order of their keys, numbers their text.
public enum JSONValue: Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case boolean(Bool)
    /// A number with its text.
    case number(JSONNumber)
    /// A string, unescaped.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object with its keys in order.
    case object(JSONObject)

    /// A number; `null` where JSON has none for it (infinite, not a number).
    public static func number(_ value: Double) -> JSONValue {
        JSONNumber(value).map { .number($0) } ?? .null
    }

    /// A whole number.
    public static func integer(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }

    /// The string, if it is one.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The truth value, if it is one.
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The number as a 64-bit real, if it is a finite one.
    public var double: Double? {
        guard case .number(let number) = self else { return nil }
        let value = number.value
        return value.isFinite ? value : nil
    }
    /// The number, if it is a whole one of at most 53 bits.
    public var integer: Int? { if case .number(let number) = self { number.integer } else { nil } }
    /// The elements, if it is an array.
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    /// The members, if it is an object.
    public var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// What it is, for messages: "a string", "an array", ...
    public var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "a truth value"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: Hashable {
    /// Equal values, texts byte by byte.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.isExactly(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Hashes what makes values equal; values of two types rarely meet, and then differ by `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): value.hashExactly(into: &hasher)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}
