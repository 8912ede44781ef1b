internal import Glibc
internal import Model
internal import Stores
internal import SystemCalls

/// Takes the bytes of a piece as they come and writes them in large parts: curl hands out 16 KiB at a
/// time, and writing those one by one costs the disk's cache several times as much. Blocks are verified,
/// if there is something to verify them with, before they are noted: nobody reads them earlier.
final class BlockSink: BlobSink {
    /// Bytes written at a time: fits the second-level cache. Each download that is on its way has so
    /// much memory.
    private static let part = 128 << 10

    private let incoming: Incoming
    private let name: ContentHash
    private let address: String
    /// Called with the bytes that came and, when it is whole, the block; says whether to go on.
    private let came: (_ count: Int, _ block: Int?) throws(StoreError) -> Bool
    private let buffer: UnsafeMutableRawBufferPointer
    /// Bytes in the buffer.
    private var filled = 0
    /// Where the next byte belongs.
    private var offset: Int64
    /// All before it is in blocks that have been noted.
    private var noted: Int64
    private var sum: BlockSum?
    /// What the disk said, if it was the disk.
    private(set) var local: Errno?

    /// - Parameter range: what will come; it begins with a block.
    init(
        _ incoming: Incoming, of name: ContentHash, _ range: Range<Int64>, for address: String,
        came: @escaping (_ count: Int, _ block: Int?) throws(StoreError) -> Bool
    ) {
        self.incoming = incoming
        self.name = name
        self.address = address
        self.came = came
        offset = range.lowerBound
        noted = range.lowerBound
        buffer = .allocate(byteCount: min(Self.part, max(range.count, 1)), alignment: 4096)
        beginSum()
    }

    deinit { buffer.deallocate() }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        if offset != self.offset { begin(at: offset) }
        // Blocks that are there may be being read: they stay as they are.
        var rest = bytes.dropFirst(Int(max(0, self.offset - offset)))
        while !rest.isEmpty {
            let number = Int(self.offset / incoming.blockSize)
            let range = incoming.bytes(number..<number + 1)
            let count = min(
                rest.count, buffer.count - filled, Int(range.upperBound - self.offset))
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            filled += count
            self.offset += Int64(count)
            rest = rest.dropFirst(count)
            let isWhole = self.offset == range.upperBound
            if isWhole || filled == buffer.count { try flush() }
            guard isWhole, incoming.isInBlocks else {
                _ = try came(count, nil)
                continue
            }
            try verify(number)
            noted = self.offset
            guard try came(count, number) else {
                throw StoreError(.cancelled, at: address, "the rest comes otherwise")
            }
        }
    }

    /// The store begins anew: what is not in a whole block comes again.
    private func begin(at offset: Int64) {
        filled = 0
        self.offset = max(offset, noted)
        beginSum()
    }

    /// To be called where a block begins.
    private func beginSum() {
        let block = Int(offset / incoming.blockSize)
        sum = block < incoming.all.upperBound ? incoming.digests?.begin(block) : nil
    }

    private func flush() throws(StoreError) {
        let part = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
        do throws(Errno) {
            try incoming.bytes.write(part, at: offset - Int64(filled))
        } catch {
            local = error
            throw StoreError(
                .local, at: address, "what came could not be written to the disk: \(error)")
        }
        sum?.update(part)
        filled = 0
    }

    private func verify(_ number: Int) throws(StoreError) {
        guard let sum, let digests = incoming.digests else { return }
        guard sum.finish() == digests[number] else {
            throw StoreError(
                .corrupt, at: address, "\(name) came with other bytes in its block \(number)")
        }
        beginSum()
    }
}
