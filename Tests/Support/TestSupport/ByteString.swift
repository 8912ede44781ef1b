/// Bytes as the kernel takes them: a path, a content or an attribute's value. Written as a string
/// where they are text.
package struct ByteString: Sendable, Hashable, ExpressibleByStringInterpolation,
    CustomStringConvertible
{
    /// The bytes, without a terminator.
    package var bytes: [UInt8]

    /// Any bytes, UTF-8 or not.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// `count` times the same byte.
    package init(repeating byte: UInt8, count: Int) {
        bytes = [UInt8](repeating: byte, count: count)
    }

    /// `count` times the same character of ASCII.
    package init(repeating character: Character, count: Int) {
        self.init(repeating: character.asciiValue ?? 0x3f, count: count)
    }

    /// The UTF-8 of a literal.
    package init(stringLiteral value: String) {
        bytes = Array(value.utf8)
    }

    /// The UTF-8 of a string.
    package init(_ string: String) {
        bytes = Array(string.utf8)
    }

    /// How many bytes.
    package var count: Int { bytes.count }

    /// As text, with a mark where bytes are not UTF-8.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The text, cut where it is long.
    package var description: String {
        count <= 80 ? text : "\(String(decoding: bytes[..<40], as: UTF8.self))… (\(count) bytes)"
    }

    /// One after the other.
    package static func + (left: ByteString, right: ByteString) -> ByteString {
        ByteString(left.bytes + right.bytes)
    }
}
