internal import Content
internal import Glibc
internal import Model
internal import SystemCalls

/// What a worker is given of a content.
enum WorkerInput: Sendable {
    /// Contents up to this size are sent to it, in bytes; of larger ones it gets the file.
    private static let sentBytes: Int64 = 256 << 10

    case bytes([UInt8])
    case file(SharedDescriptor)

    /// nil if the content is gone. Throws ENOENT if it is moving (``Volume/followingMoves(_:)``).
    init?(_ reference: ContentReference, in content: LocalContent) throws(Errno) {
        if let part = content.part(reference.node) {
            self = .bytes(try part.read())
            return
        }
        // A descriptor of its own: those that are kept may write.
        guard let file = try content.openApart(reference) else { return nil }
        try self.init(file, size: reference.size)
    }

    /// - Parameter size: of the file, in bytes.
    init(_ file: consuming OwnedDescriptor, size: Int64) throws(Errno) {
        if size <= Self.sentBytes {
            var bytes = [UInt8](repeating: 0, count: Int(size))
            let count = try file.read(into: &bytes, at: 0)
            self = .bytes(Array(bytes.prefix(count)))
        } else {
            self = .file(SharedDescriptor(file))
        }
    }
}
