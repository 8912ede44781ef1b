/// A property list or a part of it. Dictionaries keep the order of their keys.
public enum PropertyList: Hashable, Sendable {
    /// A truth value.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A 64-bit real.
    case real(Double)
    /// A 32-bit real.
    case real32(Float)
    /// Seconds since the beginning of 2001, UTC.
    case date(Double)
    /// Bytes.
    case data([UInt8])
    /// Text.
    case string(String)
    /// A reference into the table of a keyed archive.
    case uid(Int)
    /// An array.
    case array([PropertyList])
    /// A dictionary; its keys are unique.
    case dictionary([Entry])

    /// A key of a dictionary and its value.
    public struct Entry: Hashable, Sendable {
        /// The key.
        public let key: String
        /// The value.
        public var value: PropertyList

        /// An entry of its two parts.
        public init(_ key: String, _ value: PropertyList) {
            self.key = key
            self.value = value
        }
    }

    /// The value of a key, if it is a dictionary that has it.
    public subscript(key: String) -> PropertyList? {
        guard case .dictionary(let entries) = self else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// What it is, for messages: "a string", "an array", ...
    public var typeName: String {
        switch self {
        case .boolean: "a truth value"
        case .integer: "a whole number"
        case .real, .real32: "a real number"
        case .date: "a date"
        case .data: "data"
        case .string: "a string"
        case .uid: "a reference"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}
