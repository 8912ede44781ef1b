internal import Glibc
package import SystemCalls

/// Where the bytes of a blob that is put come from. Used by one call at a time, on its thread.
package protocol BlobSource: AnyObject {
    /// Fills `buffer` with bytes from `offset` on; the number of bytes, less than there is room for
    /// only at the end. Throws `local` if they cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError)
        -> Int
}

/// Where the bytes of a blob go. Used by one call at a time, on its thread.
package protocol BlobSink: AnyObject {
    /// Takes bytes of the blob that begin at `offset`. They come in ascending order; after a failed
    /// attempt some may come again from an earlier offset on. Throws `local` if they cannot be kept.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError)
}

/// A blob in memory.
package final class MemorySource: BlobSource {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(StoreError) -> Int
    {
        let count = max(0, min(buffer.count, bytes.count - Int(offset)))
        guard count > 0 else { return 0 }
        buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + count])
        return count
    }
}

/// Collects what comes in memory.
package final class MemorySink: BlobSink {
    /// What has come, from `start` on.
    package private(set) var bytes: [UInt8] = []
    private let start: Int64

    /// - Parameter start: where the range begins that will be written.
    package init(from start: Int64 = 0) { self.start = start }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        self.bytes.removeLast(self.bytes.count - Int(offset - start))
        self.bytes.append(contentsOf: bytes)
    }
}

/// Keeps nothing of what comes.
package final class NoSink: BlobSink {
    package init() {}

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {}
}

/// An open file, which is read where it is now, as a source or a sink at the same offsets.
package final class FileTransfer: BlobSource, BlobSink {
    private let file: OwnedDescriptor
    private let name: String

    /// - Parameter name: of the file, for messages.
    package init(_ file: consuming OwnedDescriptor, name: String) {
        self.file = file
        self.name = name
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(StoreError) -> Int
    {
        do throws(Errno) { return try file.read(into: buffer, at: offset) } catch {
            throw StoreError(.local, at: name, "cannot be read: \(error)")
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        do throws(Errno) { try file.write(bytes, at: offset) } catch {
            throw StoreError(.local, at: name, "cannot be written: \(error)")
        }
    }

    // The same for a store that is a folder itself, where the error is the store's.

    func readIn(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try file.read(into: buffer, at: offset)
    }

    func writeOut(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        try file.write(bytes, at: offset)
    }

    func synchronize() throws(Errno) { try file.synchronizeData() }
}
