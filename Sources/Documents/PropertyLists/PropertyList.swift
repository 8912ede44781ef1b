/// A property list or a part of it. Dictionaries keep the order of their keys.
public enum PropertyList: Sendable {
    /// A truth value.
    case boolean(Bool)
    /// A whole number below 2^63.
    case integer(Int64)
    /// A whole number from 2^63 on; `whole(_:)` makes the right one of both.
    case unsigned(UInt64)
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

    /// A whole number without a sign.
    public static func whole(_ number: UInt64) -> PropertyList {
        Int64(exactly: number).map { .integer($0) } ?? .unsigned(number)
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
        case .integer, .unsigned: "a whole number"
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

extension PropertyList: Hashable {
    /// Equal values, texts byte by byte. What is not a number is equal to what is none either, so that a
    /// document that holds it is equal to itself; zero has no sign, as for people.
    public static func == (left: PropertyList, right: PropertyList) -> Bool {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.real(let left), .real(let right)), (.date(let left), .date(let right)):
            isSame(left, right)
        case (.real32(let left), .real32(let right)): isSame(left, right)
        case (.data(let left), .data(let right)): left == right
        case (.string(let left), .string(let right)): left.isExactly(right)
        case (.uid(let left), .uid(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): left == right
        default: false
        }
    }

    private static func isSame<Real: BinaryFloatingPoint>(_ left: Real, _ right: Real) -> Bool {
        left == right || (left.isNaN && right.isNaN)
    }

    /// Hashes what makes values equal; values of two types rarely meet, and then differ by `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .real(let value), .date(let value): hasher.combine(value.isNaN ? .nan : value)
        case .real32(let value): hasher.combine(value.isNaN ? .nan : value)
        case .data(let value): hasher.combine(value)
        case .string(let value): value.hashExactly(into: &hasher)
        case .uid(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .dictionary(let value): hasher.combine(value)
        }
    }
}
