/// Asks a worker for the preview that a photo has in it, of which only parts are known. Little-endian: a
/// kind byte and the photo's size, then for each part where it is, its count and its bytes; these numbers
/// have 8 bytes.
public struct PreviewRequest: Sendable, Equatable {
    private static let kind: UInt8 = 4
    /// Parts of a photo that are read at most.
    public static let mostParts = 8
    /// Bytes of a photo that are read at most: a segment is 64 KiB at most, and the preview in one.
    public static let mostBytes = 72 << 10

    /// Bytes of the photo that lie side by side.
    public struct Part: Sendable, Equatable {
        /// Where they are.
        public var place: Int
        /// What they are.
        public var bytes: [UInt8]
    }

    /// The size of the photo, in bytes.
    public var size: Int
    /// What is known of it.
    public private(set) var parts: [Part] = []

    /// A request about a photo of which nothing is known.
    public init(size: Int) { self.size = size }

    /// Adds what is known.
    public mutating func add(_ bytes: [UInt8], at place: Int) {
        parts.append(Part(place: place, bytes: bytes))
    }

    /// Whether these bytes can be read besides the parts that are known.
    func admits(_ range: Range<Int>) -> Bool {
        let left = Self.mostBytes - parts.reduce(0) { $0 + $1.bytes.count }
        return parts.count < Self.mostParts && range.count <= left && range.upperBound <= size
    }

    /// The message.
    public var message: [UInt8] {
        var message = [Self.kind] + MessageNumber.bytes(size)
        for part in parts {
            message += MessageNumber.bytes(part.place) + MessageNumber.bytes(part.bytes.count)
            message += part.bytes
        }
        return message
    }

    /// The request of a message; nil if it is none.
    public init?(message: [UInt8]) {
        guard message.first == Self.kind else { return nil }
        var rest = message.dropFirst()
        guard let size = MessageNumber.take(from: &rest) else { return nil }
        self.init(size: size)
        while !rest.isEmpty {
            guard let place = MessageNumber.take(from: &rest),
                let count = MessageNumber.take(from: &rest), count <= rest.count,
                place <= size, count <= size - place
            else { return nil }
            add(Array(rest.prefix(count)), at: place)
            rest = rest.dropFirst(count)
        }
    }
}

/// The preview in a photo.
public struct PhotoPreview: Sendable, Equatable {
    /// A JPEG file, as hostile as the photo.
    public var bytes: [UInt8]
    /// How wide the photo is, turned as it is to be shown; 0 if that is not known.
    public var width = 0
    /// How high; 0 if that is not known.
    public var height = 0

    /// A preview of its parts.
    public init(bytes: [UInt8], width: Int = 0, height: Int = 0) {
        self.bytes = bytes
        self.width = width
        self.height = height
    }
}

/// What a worker says about the preview in a photo.
public enum PreviewAnswer: Sendable, Equatable {
    /// Here it is.
    case found(PhotoPreview)
    /// These bytes of the photo are needed to go on; at least one.
    case wanted(Range<Int>)
}

/// A number in messages: 8 bytes, little-endian, never negative.
enum MessageNumber {
    private static let count = 8

    static func bytes(_ number: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    /// Takes a number off the front; nil if there is none.
    static func take(from message: inout ArraySlice<UInt8>) -> Int? {
        guard message.count >= count else { return nil }
        let number = message.prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
        message = message.dropFirst(count)
        return number >= 0 ? number : nil
    }
}
