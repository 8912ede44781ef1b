import FoundationEssentials

/// Any JSON.
enum JSONValue: Hashable, Decodable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Reads JSON text, strictly.
    static func read(_ bytes: [UInt8]) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }

    static func read(_ text: String) throws -> JSONValue { try read(Array(text.utf8)) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// The member of an object.
    subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The elements of an array; none of anything else.
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    /// The members of an object; none of anything else.
    var members: [String: JSONValue] {
        if case .object(let members) = self { members } else { [:] }
    }

    /// The text of a string.
    var text: String? { if case .string(let text) = self { text } else { nil } }
}
