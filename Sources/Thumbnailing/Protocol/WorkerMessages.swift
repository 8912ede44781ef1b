/// What is asked of a worker. Little-endian: a kind byte, the type, the size, the title's bytes
/// after their count, then the document's bytes unless a descriptor comes with the message.
public struct DrawingRequest: Sendable, Equatable {
    /// Bytes of a document that are looked at; larger ones are refused.
    public static let documentBytes = 16 << 20
    /// Bytes of a title that are sent.
    public static let titleBytes = 4 << 10

    /// What the document is.
    public var type: DrawnType
    /// The side of the square, in pixels, that the picture must fit into.
    public var size: UInt16
    /// What to call the document where its picture shows a name; empty for none.
    public var title: String
    /// The document; nil if a descriptor is sent for it.
    public var bytes: [UInt8]?

    /// A request of its parts.
    public init(type: DrawnType, size: UInt16, title: String = "", bytes: [UInt8]? = nil) {
        self.type = type
        self.size = size
        self.title = title
        self.bytes = bytes
    }

    /// The largest message of this kind.
    public static let messageBytes = documentBytes + titleBytes + 16

    /// The message.
    public var message: [UInt8] {
        let title = Array(title.utf8.prefix(Self.titleBytes))
        var message: [UInt8] = [bytes == nil ? 1 : 0, type.rawValue]
        message += [UInt8(size & 0xFF), UInt8(size >> 8)]
        message += [UInt8(title.count & 0xFF), UInt8(title.count >> 8)]
        return message + title + (bytes ?? [])
    }

    /// The request of a message; nil if it is none.
    public init?(message: [UInt8]) {
        guard message.count >= 6, message[0] <= 1, let type = DrawnType(rawValue: message[1]) else {
            return nil
        }
        let end = 6 + Int(message[4]) + Int(message[5]) << 8
        guard message.count >= end else { return nil }
        self.type = type
        size = UInt16(message[2]) | UInt16(message[3]) << 8
        title = String(decoding: message[6..<end], as: UTF8.self)
        bytes = message[0] == 0 ? Array(message[end...]) : nil
    }
}

/// Asks a worker for the words of a document. A kind byte and the type, then the document's bytes
/// unless a descriptor comes with the message.
public struct TextRequest: Sendable, Equatable {
    /// What the document is.
    public var type: DrawnType
    /// The document; nil if a descriptor is sent for it.
    public var bytes: [UInt8]?

    /// A request of its parts.
    public init(type: DrawnType, bytes: [UInt8]? = nil) {
        self.type = type
        self.bytes = bytes
    }

    /// The message.
    public var message: [UInt8] { [bytes == nil ? 2 : 3, type.rawValue] + (bytes ?? []) }

    /// The request of a message; nil if it is none.
    public init?(message: [UInt8]) {
        guard message.count >= 2, message[0] == 2 || message[0] == 3,
            let type = DrawnType(rawValue: message[1])
        else { return nil }
        self.type = type
        bytes = message[0] == 2 ? nil : Array(message[2...])
    }
}

/// The words of a document, as a worker found them.
public struct WorkerText: Sendable, Equatable {
    /// Bytes of a title and of the words, at most: somewhat more than a worker that does its work gives.
    private static let (titleBytes, bodyBytes) = (4 << 10, 512 << 10)

    /// What it is called apart from its file's name; empty if it has no name of its own.
    public var title: String
    /// The words in it.
    public var body: String

    /// A text of its parts.
    public init(title: String, body: String) {
        self.title = title
        self.body = body
    }

    /// Whether it is no more than is taken from a document.
    var isBounded: Bool {
        title.utf8.count <= Self.titleBytes && body.utf8.count <= Self.bodyBytes
    }
}

/// What a worker says: a kind byte and text or bytes.
public enum WorkerReply: Sendable, Equatable {
    /// The first message of every worker: what confines it.
    case hello(Confinement)
    /// A PNG file.
    case picture([UInt8])
    /// Why there is no picture; one sentence.
    case refusal(String)
    /// The words of a document.
    case text(WorkerText)
    /// A JPEG file that was found in a photo, as hostile as that, or what is needed to find it.
    case preview(PreviewAnswer)

    /// The largest message of this kind.
    public static let messageBytes = (16 << 20) + 1

    /// The message.
    public var message: [UInt8] {
        switch self {
        case .hello(let confinement): [0, confinement.rawValue]
        case .picture(let bytes): [1] + bytes
        case .refusal(let text): [2] + Array(text.utf8.prefix(1_000))
        case .text(let text): [3] + Array(text.title.utf8) + [0] + Array(text.body.utf8)
        case .preview(.found(let preview)):
            [4] + MessageNumber.bytes(preview.width) + MessageNumber.bytes(preview.height)
                + preview.bytes
        case .preview(.wanted(let range)):
            [5] + MessageNumber.bytes(range.lowerBound) + MessageNumber.bytes(range.count)
        }
    }

    /// The reply of a message; nil if it is none.
    public init?(message: [UInt8]) {
        switch message.first {
        case 0 where message.count == 2: self = .hello(Confinement(rawValue: message[1]))
        case 1: self = .picture(Array(message.dropFirst()))
        case 2: self = .refusal(String(decoding: message.dropFirst(), as: UTF8.self))
        case 3:
            guard let end = message.firstIndex(of: 0) else { return nil }
            self = .text(
                WorkerText(
                    title: String(decoding: message[1..<end], as: UTF8.self),
                    body: String(decoding: message[(end + 1)...], as: UTF8.self)))
        case 4:
            var rest = message.dropFirst()
            guard let width = MessageNumber.take(from: &rest),
                let height = MessageNumber.take(from: &rest)
            else { return nil }
            self = .preview(
                .found(PhotoPreview(bytes: Array(rest), width: width, height: height)))
        case 5:
            var rest = message.dropFirst()
            guard let place = MessageNumber.take(from: &rest),
                let count = MessageNumber.take(from: &rest), count > 0, count <= Int.max - place
            else { return nil }
            self = .preview(.wanted(place..<place + count))
        default: return nil
        }
    }
}

/// What holds a worker back, as far as the kernel offers it.
public struct Confinement: OptionSet, Sendable, CustomStringConvertible {
    /// The bits, as they are sent.
    public let rawValue: UInt8
    /// The set of these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It can gain no privileges.
    public static let noNewPrivileges = Confinement(rawValue: 1)
    /// Its memory, files and descriptors are limited, and it leaves no memory behind on a crash.
    public static let limits = Confinement(rawValue: 2)
    /// It can open only fonts and libraries, and only to read.
    public static let landlock = Confinement(rawValue: 4)
    /// It can start nothing and reach nobody but through its socket.
    public static let seccomp = Confinement(rawValue: 8)

    /// The names of what holds, for people.
    public var description: String {
        let names: [(Confinement, String)] = [
            (.noNewPrivileges, "no new privileges"), (.limits, "limits"), (.landlock, "Landlock"),
            (.seccomp, "seccomp"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
