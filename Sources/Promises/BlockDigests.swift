internal import Content
internal import Glibc
internal import PathText
package import SystemCalls

/// What each block of a large content is compared with, made before it is uploaded, so that a part of it
/// that comes from a store can be verified before the rest is there.
///
/// The file has a key that nobody else knows, a tag of each block by it, and a tag of all that, so that
/// damage to the file is not taken for damage to the blocks. A store that does not know the key cannot
/// make other bytes pass. Earlier releases kept the SHA-256 of each block, which takes five times as long.
package struct BlockDigests {
    /// Bytes of a block; the last one of a content may be shorter.
    package static let blockSize: Int64 = 1 << 20
    /// Contents up to this size come whole and have no digests.
    package static let wholeSize: Int64 = 4 << 20

    private static let mark = Array("SEtags1\n".utf8)
    private static let hashSize = 32
    /// The number of the tag of the file itself; contents have fewer blocks.
    private static let ownNumber = UInt32.max

    /// `nil` if the sums are hashes.
    private let key: [UInt8]?
    private let sums: [[UInt8]]

    /// The sum over a block's bytes, to be compared with ``subscript(_:)``.
    func begin(_ block: Int) -> BlockSum {
        guard let key else { return .hash(RunningDigest(.sha256)) }
        return .tag(RunningTag(key: key, number: UInt32(block)))
    }

    subscript(_ block: Int) -> [UInt8] { sums[block] }

    /// Calculates the tags of a content's blocks and keeps them in `path`. Writes a file of its
    /// own first, so that a half-written one is never found.
    package static func make(
        _ content: borrowing OwnedDescriptor, size: Int64, at path: String
    ) throws(Errno) {
        let key = (0..<RunningTag.size).map { _ in UInt8.random(in: .min ... .max) }
        var all = mark + key
        var offset: Int64 = 0
        while offset < size {
            let count = min(blockSize, size - offset)
            let tag = RunningTag(key: key, number: UInt32(offset / blockSize))
            let read = try Hashing.read(content, from: offset, size: count) { tag.update($0) }
            guard read == count else { throw Errno(EIO) }
            all += tag.finish()
            offset += count
        }
        all += Self.tag(of: all[...], key)
        let draft = path + ContainerFolder.mapSuffix
        let file = try OwnedDescriptor.openOwn(draft, O_WRONLY | O_TRUNC)
        try file.write(all, at: 0)
        try file.synchronizeData()
        try check { rename(draft.cPath, path.cPath) }
    }

    /// What is kept in `path`; `nil` if that is not for a content of this size, or damaged.
    static func read(_ path: String, size: Int64) -> BlockDigests? {
        let blocks = Int((size + blockSize - 1) / blockSize)
        guard let file = try? OwnedDescriptor.open(path, O_RDONLY),
            let status = try? file.status(),
            status.st_size <= Int64(mark.count) + Int64(blocks + 2) * Int64(hashSize)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        guard count == bytes.count else { return nil }
        if count == blocks * hashSize {
            return BlockDigests(key: nil, sums: split(bytes[...], hashSize))
        }
        guard count == mark.count + (blocks + 2) * RunningTag.size, bytes.starts(with: mark) else {
            return nil
        }
        let key = Array(bytes[mark.count...].prefix(RunningTag.size))
        let (content, tag) = (bytes.dropLast(RunningTag.size), bytes.suffix(RunningTag.size))
        guard Self.tag(of: content, key) == Array(tag) else { return nil }
        return BlockDigests(
            key: key, sums: split(content.dropFirst(mark.count + key.count), RunningTag.size))
    }

    private static func tag(of bytes: ArraySlice<UInt8>, _ key: [UInt8]) -> [UInt8] {
        let tag = RunningTag(key: key, number: ownNumber)
        bytes.withUnsafeBytes { tag.update($0) }
        return tag.finish()
    }

    private static func split(_ bytes: ArraySlice<UInt8>, _ size: Int) -> [[UInt8]] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: size)
            .map { Array(bytes[$0..<$0 + size]) }
    }
}

/// The sum over the bytes of a block as they come.
enum BlockSum {
    case hash(RunningDigest)
    case tag(RunningTag)

    func update(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .hash(let digest): digest.update(bytes)
        case .tag(let tag): tag.update(bytes)
        }
    }

    func finish() -> [UInt8] {
        switch self {
        case .hash(let digest): digest.finish()
        case .tag(let tag): tag.finish()
        }
    }
}
