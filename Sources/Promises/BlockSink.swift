internal import CCrypto
internal import Glibc
internal import Model
internal import Stores
internal import SystemCalls

/// Takes the bytes of a piece as they come: blocks are verified in memory and only then written; a
/// content that comes as one block is written at once, because nobody reads it before it is verified
/// as a whole.
final class BlockSink: BlobSink {
    private let incoming: Incoming
    private let name: String
    private let address: String
    /// Called with the bytes that came and, when it is whole, the block; says whether to go on.
    private let came: (_ count: Int, _ block: Int?) throws(StoreError) -> Bool
    private var block: [UInt8] = []
    /// Where the next byte belongs.
    private var offset: Int64
    /// What the disk said, if it was the disk.
    private(set) var local: Errno?

    init(
        _ incoming: Incoming, of name: String, from offset: Int64, for address: String,
        came: @escaping (_ count: Int, _ block: Int?) throws(StoreError) -> Bool
    ) {
        self.incoming = incoming
        self.name = name
        self.address = address
        self.came = came
        self.offset = offset
        if incoming.isInBlocks { block.reserveCapacity(Int(incoming.blockSize)) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        if offset != self.offset {
            // The store begins anew, at the beginning of the piece.
            block.removeAll(keepingCapacity: true)
            self.offset = offset
        }
        guard incoming.isInBlocks else {
            try keep { (file) throws(Errno) in try file.write(bytes, at: offset) }
            self.offset += Int64(bytes.count)
            _ = try came(bytes.count, nil)
            return
        }
        var rest = bytes
        while !rest.isEmpty {
            let number = Int(self.offset / incoming.blockSize)
            let range = incoming.bytes(number..<number + 1)
            let part = rest.prefix(Int(range.upperBound - self.offset))
            block.append(contentsOf: UnsafeRawBufferPointer(rebasing: part))
            self.offset += Int64(part.count)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
            guard self.offset == range.upperBound else {
                _ = try came(part.count, nil)
                continue
            }
            if let digests = incoming.digests { try verify(digests[number], number) }
            try keep { (file) throws(Errno) in try file.write(block, at: range.lowerBound) }
            block.removeAll(keepingCapacity: true)
            guard try came(part.count, number) else {
                throw StoreError(.cancelled, at: address, "the rest comes otherwise")
            }
        }
    }

    private func verify(_ digest: [UInt8], _ number: Int) throws(StoreError) {
        guard (try? Hashing.sha256(block)) == digest else {
            throw StoreError(
                .corrupt, at: address,
                "\(name) came with other bytes in its block \(number)")
        }
    }

    private func keep(_ write: (borrowing OwnedDescriptor) throws(Errno) -> Void)
        throws(StoreError)
    {
        do throws(Errno) { try incoming.file.with(write) } catch {
            local = error
            throw StoreError(
                .local, at: address, "what came could not be written to the disk: \(error)")
        }
    }
}
