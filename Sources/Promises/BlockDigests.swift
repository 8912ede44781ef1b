internal import Content
internal import Glibc
package import SystemCalls

/// The SHA-256 of each block of a large content, made when it is sealed, so that a part of it that
/// comes from a store can be verified before the rest is there.
package enum BlockDigests {
    /// Bytes of a block; the last one of a content may be shorter.
    package static let blockSize: Int64 = 1 << 20
    /// Contents up to this size come whole and have no digests.
    package static let wholeSize: Int64 = 4 << 20
    private static let length = 32

    /// Calculates the digests of a content's blocks and keeps them in `path`. Writes a file of its
    /// own first, so that a half-written one is never found.
    package static func make(
        _ content: borrowing OwnedDescriptor, size: Int64, at path: String
    ) throws(Errno) {
        var all: [UInt8] = []
        var offset: Int64 = 0
        while offset < size {
            let count = min(blockSize, size - offset)
            let (hashed, digest) = try Hashing.sha256(
                of: content, from: offset, size: count)
            guard hashed == count else { throw Errno(EIO) }
            all += digest
            offset += count
        }
        let draft = path + ContainerFolder.mapSuffix
        let file = try OwnedDescriptor.open(draft, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        try file.write(all, at: 0)
        try file.synchronizeData()
        try check { rename(draft, path) }
    }

    /// The digests kept in `path`; `nil` if there are none for a content of this size.
    static func read(_ path: String, size: Int64) -> [[UInt8]]? {
        let blocks = Int((size + blockSize - 1) / blockSize)
        guard let file = try? OwnedDescriptor.open(path, O_RDONLY),
            let status = try? file.status(), Int(status.st_size) == blocks * length
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: blocks * length)
        let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        guard count == bytes.count else { return nil }
        return stride(from: 0, to: count, by: length).map { Array(bytes[$0..<$0 + length]) }
    }
}
