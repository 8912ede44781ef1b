internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import Stores
internal import SystemCalls

/// The files of a content that is on its way: its bytes, and which blocks of them are there.
///
/// A small foreign content comes into memory and gets its file when it is taken over: making an inode
/// costs more than bringing it, and who waits does not wait for that.
final class Incoming {
    let bytes: IncomingBytes
    /// What each block is compared with; `nil` if there is nothing.
    let digests: BlockDigests?
    /// Otherwise the content comes whole, as one block.
    let isInBlocks: Bool
    let blockSize: Int64
    /// Guarded by the lock of ``Downloads``.
    var map: BlockMap
    private let size: Int64
    private let name: ContentHash
    private let folder: ContainerFolder
    /// The largest content that comes into memory, in bytes.
    private static let memorySize: Int64 = 64 << 10

    init(_ blob: Blob, _ content: LocalContent, _ kind: Downloads.Kind) throws(Errno) {
        size = blob.size
        digests =
            size > BlockDigests.wholeSize && kind == .blobs
            ? BlockDigests.read(content.folder.digests(blob.hash), size: size) : nil
        isInBlocks = digests != nil || size > BlockDigests.wholeSize && kind == .foreign
        // An empty content has no blocks, but they have a size.
        blockSize = isInBlocks ? BlockDigests.blockSize : max(size, 1)
        name = blob.hash
        folder = content.folder
        if kind == .foreign, size <= Self.memorySize {
            bytes = .memory(IncomingMemory(size: Int(size)))
            map = BlockMap(isEmpty: size == 0)
            return
        }
        let path = folder.incoming(name)
        let file = SharedDescriptor(try OwnedDescriptor.openOwn(path, O_RDWR))
        bytes = .file(file)
        if try file.status().size != blob.size {
            // A map that a death left behind tells of other bytes. It goes before the file has its size:
            // afterwards it would be believed.
            unlink((path + ContainerFolder.mapSuffix).cPath)
            try check { ftruncate(file.number, off_t(blob.size)) }
        }
        if isInBlocks {
            let count = Int((size + blockSize - 1) / blockSize)
            map = try BlockMap(path + ContainerFolder.mapSuffix, count: count)
        } else {
            map = BlockMap(isEmpty: size == 0)
        }
    }

    /// Sees to it that all that came is in the file with the content's name, and on its way to the
    /// disk. Once, by the thread that takes the content over.
    func land() throws(Errno) {
        switch bytes {
        case .file(let file): try file.with { (file) in file.startWriting() }
        case .memory(let memory):
            let file = try OwnedDescriptor.openOwn(folder.incoming(name), O_WRONLY | O_TRUNC)
            try file.write(memory.bytes, at: 0)
            file.startWriting()
        }
    }

    /// Whether it keeps a file open.
    var hasFile: Bool { if case .file = bytes { true } else { false } }

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
