/// Asks a worker to make the picture that another program drew one that can be kept. Little-endian: a kind
/// byte, the size, width and height of 8 bytes each, then the bytes of a PNG file.
public struct FittingRequest: Sendable, Equatable {
    private static let kind: UInt8 = 5

    /// The side of the square, in pixels, that the picture must fit into.
    public var size: UInt16
    /// The proportions of what it shows, if dark bars beside that are to be left out; 0 for neither.
    public var width = 0
    /// See ``width``.
    public var height = 0
    /// A PNG file of any kind, as hostile as the document.
    public var picture: [UInt8]

    /// A request of its parts.
    public init(size: UInt16, picture: [UInt8], width: Int = 0, height: Int = 0) {
        self.size = size
        self.width = width
        self.height = height
        self.picture = picture
    }

    /// The message.
    public var message: [UInt8] {
        [Self.kind, UInt8(size & 0xFF), UInt8(size >> 8)] + MessageNumber.bytes(width)
            + MessageNumber.bytes(height) + picture
    }

    /// The request of a message; nil if it is none.
    public init?(message: [UInt8]) {
        guard message.count >= 3, message[0] == Self.kind else { return nil }
        size = UInt16(message[1]) | UInt16(message[2]) << 8
        var rest = message[3...]
        guard let width = MessageNumber.take(from: &rest),
            let height = MessageNumber.take(from: &rest)
        else { return nil }
        self.width = width
        self.height = height
        picture = Array(rest)
    }
}
