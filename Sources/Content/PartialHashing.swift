internal import Glibc
package import Model
package import SystemCalls

/// The hashing of a large content a part at a time, so that whoever hashes it can do something else
/// in between: a sparse file of some terabytes takes hours.
///
/// One thread at a time. Goes on where it was as long as it is asked for the same content.
package final class PartialHashing {
    /// Contents from this size on, in bytes.
    package static let threshold: Int64 = 1 << 30
    /// Larger contents are not hashed, and stay where they were written: no store takes them.
    package static let largest: Int64 = 5 << 40
    /// Bytes that are hashed between two looks at the clock.
    private static let part = 1 << 20

    private var node: NodeNumber?
    private var digest = RunningDigest(.sha256)
    private var offset: Int64 = 0
    /// The bytes from ``offset`` on that are not in a hole.
    private var data: Range<Int64> = 0..<0

    package init() {}

    /// - Parameters:
    ///   - file: the content of `node`, which does not change.
    ///   - deadline: when to stop, in monotonic nanoseconds.
    /// - Returns: the hash; `nil` if there is more to do.
    package func goOn(
        _ node: NodeNumber, _ file: borrowing OwnedDescriptor, size: Int64, until deadline: UInt64
    ) throws(Errno) -> ContentHash? {
        if self.node != node {
            self.node = node
            digest = RunningDigest(.sha256)
            (offset, data) = (0, 0..<0)
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.part, alignment: 4096)
        defer { buffer.deallocate() }
        // How many bytes at the buffer's start are zeros, which stand for those of a hole.
        var zeros = 0
        while offset < size {
            if MonotonicClock.now > deadline { return nil }
            if offset >= data.upperBound { data = try Self.nextData(file, offset, size) }
            if offset < data.lowerBound {
                let count = Int(min(Int64(Self.part), data.lowerBound - offset))
                if zeros < count {
                    UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
                        .initializeMemory(as: UInt8.self, repeating: 0)
                    zeros = count
                }
                digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                offset += Int64(count)
                continue
            }
            zeros = 0
            let wanted = Int(min(Int64(Self.part), data.upperBound - offset))
            let count = try file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
            if count == 0 { break }
            digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        self.node = nil
        return ContentHash(bytes: digest.finish())
    }

    /// Where the next bytes are that were written; empty at the end if only a hole follows.
    private static func nextData(
        _ file: borrowing OwnedDescriptor, _ offset: Int64, _ size: Int64
    ) throws(Errno) -> Range<Int64> {
        let start: Int64
        do throws(Errno) { start = min(size, try file.seek(data: true, from: offset)) } catch {
            if error.code == ENXIO { return size..<size }
            throw error
        }
        return start..<max(start, min(size, try file.seek(data: false, from: start)))
    }
}
