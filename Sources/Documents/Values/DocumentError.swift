/// Why a document cannot be read or written: what kind of trouble, where, and in words.
public struct DocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Kind: String, Hashable, Sendable {
        /// More bytes, objects or levels than `Limits` allows.
        case tooLarge
        /// The bytes do not follow the grammar of the format.
        case malformed
        /// The bytes are well formed, but not of this kind of document.
        case otherFormat
        /// Something that must be there is not.
        case missing
        /// A value is of another type than its key asks for.
        case wrongType
        /// A value of the right type that the format does not allow.
        case badValue
        /// Made by a version or class of program that this one does not know.
        case unknown
        /// The document is sound, but the format asked for cannot hold it.
        case notRepresentable
    }

    /// Where in the document it is.
    public enum Place: Hashable, Sendable, CustomStringConvertible {
        /// The document as a whole.
        case whole
        /// A byte, counted from 0.
        case byte(Int)
        /// A line and a column, both counted from 1; columns count bytes.
        case line(Int, column: Int)
        /// An object of a binary property list and where its bytes begin.
        case object(Int, offset: Int)
        /// An entry of a keyed archive's table of objects.
        case archived(Int)
        /// A value by its keys and indices, as in `nodes[2].color`.
        case path(String)

        /// The place in words.
        public var description: String {
            switch self {
            case .whole: return "document"
            case .byte(let offset): return "byte \(offset)"
            case .line(let line, let column): return "line \(line), column \(column)"
            case .object(let index, let offset): return "object \(index) at byte \(offset)"
            case .archived(let index): return "archived object \(index)"
            case .path(let path): return path.isEmpty ? "document" : path
            }
        }
    }

    /// What kind of trouble it is.
    public var kind: Kind
    /// Where it is.
    public var place: Place
    /// What is wrong, and what would be right where that helps; one sentence without a full stop.
    public var reason: String

    /// An error of its three parts.
    public init(_ kind: Kind, at place: Place = .whole, _ reason: String) {
        self.kind = kind
        self.place = place
        self.reason = reason
    }

    /// `place: reason`, for messages after the name of the file.
    public var description: String { "\(place): \(reason)" }
}
