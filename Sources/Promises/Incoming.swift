internal import Content
internal import Glibc
internal import Stores
internal import SystemCalls

/// The files of a content that is on its way: its bytes, and which blocks of them are there.
final class Incoming {
    let file: SharedDescriptor
    /// What each block is compared with; `nil` if there is nothing.
    let digests: [[UInt8]]?
    /// Otherwise the content comes whole, as one block.
    let isInBlocks: Bool
    let blockSize: Int64
    /// Guarded by the lock of ``Downloads``.
    var map: BlockMap
    private let size: Int64

    init(_ blob: Blob, _ content: LocalContent, _ kind: Downloads.Kind) throws(Errno) {
        size = blob.size
        digests =
            size > BlockDigests.wholeSize && kind == .blobs
            ? BlockDigests.read(content.folder.digests(blob.hash), size: size) : nil
        isInBlocks = digests != nil || size > BlockDigests.wholeSize && kind == .foreign
        blockSize = isInBlocks ? BlockDigests.blockSize : size
        let path = content.folder.incoming(blob.hash)
        file = SharedDescriptor(try OwnedDescriptor.open(path, O_RDWR | O_CREAT, mode: 0o600))
        let found = try file.status().size
        if isInBlocks {
            let count = Int((size + blockSize - 1) / blockSize)
            map = try BlockMap(path + ContainerFolder.mapSuffix, count: count)
        } else {
            map = BlockMap()
        }
        if found != size {
            try check { ftruncate(file.number, off_t(size)) }
            try map.clear()
        }
    }

    /// Blocks that hold these bytes.
    func blocks(_ range: Range<Int64>) -> Range<Int> {
        Int(range.lowerBound / blockSize)..<Int((range.upperBound + blockSize - 1) / blockSize)
    }

    var all: Range<Int> { blocks(0..<size) }

    /// The bytes of some blocks.
    func bytes(_ blocks: Range<Int>) -> Range<Int64> {
        Int64(blocks.lowerBound) * blockSize..<min(Int64(blocks.upperBound) * blockSize, size)
    }

    func has(_ blocks: Range<Int>) -> Bool { blocks.allSatisfy { map.has($0) } }

    /// Bytes that are here, rounded to blocks.
    var present: Int64 { Int64(all.count - map.missing) * blockSize }
}
