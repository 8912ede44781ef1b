/// Something of a JSON document that is not JSON, but whose meaning is clear.
public struct JSONRepair: Hashable, Sendable, CustomStringConvertible {
    /// What was repaired.
    public enum Kind: String, Hashable, Sendable {
        /// `/* */` or `//`; left out.
        case comment
        /// A comma before a closing bracket; left out.
        case trailingComma
        /// No comma between two values; put in.
        case missingComma
        /// A byte order mark at the beginning; left out.
        case byteOrderMark
        /// UTF-16 or UTF-32; read, and written as UTF-8.
        case otherEncoding
        /// A tab, line end or other control character in a string; escaped.
        case controlCharacter
        /// Bytes that are not UTF-8, or half of a surrogate pair; U+FFFD instead.
        case invalidText
        /// A key that an object has twice; the last value counts.
        case duplicateKey

        /// What it was, and what was done.
        var words: String {
            switch self {
            case .comment: "a comment was left out"
            case .trailingComma: "a trailing comma was left out"
            case .missingComma: "a missing comma was put in"
            case .byteOrderMark: "a byte order mark was left out"
            case .otherEncoding: "a text that was not in UTF-8 was made UTF-8"
            case .controlCharacter: "a control character in a string was escaped"
            case .invalidText: "text that is not Unicode was replaced by U+FFFD"
            case .duplicateKey: "of a key given twice the last value was kept"
            }
        }

        /// What is wrong for a reader that repairs nothing.
        var complaint: String {
            switch self {
            case .comment: "a comment, which JSON does not have"
            case .trailingComma: "a comma before a closing bracket"
            case .missingComma: "a comma is missing"
            case .byteOrderMark: "a byte order mark"
            case .otherEncoding: "a text that is not in UTF-8"
            case .controlCharacter: "a control character in a string that is not escaped"
            case .invalidText: "text that is not Unicode"
            case .duplicateKey: "a key that the object has already"
            }
        }
    }

    /// What was repaired.
    public let kind: Kind
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1 in bytes.
    public let column: Int

    /// `line 3, column 7: a trailing comma was left out`
    public var description: String { "line \(line), column \(column): \(kind.words)" }
}

/// Finds lines and columns in one pass, for places in rising order.
struct LineCounter {
    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    private var lineStart = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The line and column of a byte; asking for an earlier one starts anew.
    mutating func place(of target: Int) -> (line: Int, column: Int) {
        if target < offset { (offset, line, lineStart) = (0, 1, 0) }
        while offset < target, offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "\n") {
                line += 1
                lineStart = offset + 1
            }
            offset += 1
        }
        return (line, target - lineStart + 1)
    }
}
