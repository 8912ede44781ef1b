public import Glibc
internal import PathText

/// A file descriptor with exactly one owner, closed when the owner goes away.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// O_PATH, which does not import: a descriptor that only holds on to a file. It keeps a mount busy.
    package static let pathOnly: Int32 = 0o10000000
    /// O_NOATIME, which does not import: what is read counts as unread. EPERM for others than the owner.
    package static let noAccessTime: Int32 = 0o1000000
    /// O_DIRECT, which does not import by this name: reads and writes go past the page cache.
    package static let uncached: Int32 = __O_DIRECT

    /// The descriptor's number, valid while this value lives.
    public let number: Int32

    /// Takes over `number`: from now on it is closed here and nowhere else.
    public init(adopting number: Int32) { self.number = number }

    deinit { Glibc.close(number) }

    /// Opens `path` (relative to `directory`, a descriptor or `AT_FDCWD`) with `O_CLOEXEC` added.
    public static func open(
        _ path: String, at directory: Int32 = AT_FDCWD, _ flags: Int32, mode: mode_t = 0
    ) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(
            adopting: try check { Glibc.openat(directory, path.cPath, flags | O_CLOEXEC, mode) })
    }

    /// Opens a file that nobody but this program has to do with, readable by its user only, and makes it if it is
    /// not there. ELOOP for a symlink that was put in its place: what that leads to is something else.
    package static func openOwn(_ path: String, _ flags: Int32) throws(Errno) -> OwnedDescriptor {
        try open(path, flags | O_CREAT | O_NOFOLLOW, mode: 0o600)
    }

    /// Closes it, and tells what of the writing the file system could not keep.
    public consuming func close() throws(Errno) {
        let number = self.number
        discard self
        // Interrupted it is closed all the same.
        if Glibc.close(number) != 0, Glibc.errno != EINTR { throw Errno.last }
    }

    /// `fstat`.
    public func status() throws(Errno) -> stat {
        var result = stat()
        try check { fstat(number, &result) }
        return result
    }

    /// Reads at `offset` until `buffer` is full or the file ends; the number of bytes read.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(Errno) -> Int
    {
        guard let base = buffer.baseAddress else { return 0 }
        var done = 0
        while done < buffer.count {
            let count = try check {
                pread(number, base + done, buffer.count - done, off_t(offset) + done)
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Writes all of `buffer` at `offset`.
    public func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        guard let base = buffer.baseAddress else { return }
        var done = 0
        while done < buffer.count {
            done += try check {
                pwrite(number, base + done, buffer.count - done, off_t(offset) + done)
            }
        }
    }

    /// Writes all of `bytes` at `offset`.
    public func write(_ bytes: [UInt8], at offset: Int64) throws(Errno) {
        var problem: Errno?
        bytes.withUnsafeBytes { buffer in
            do throws(Errno) { try write(buffer, at: offset) } catch { problem = error }
        }
        if let problem { throw problem }
    }

    /// Writes all of `bytes` where the descriptor stands: for pipes, terminals and devices.
    public func write(_ bytes: [UInt8]) throws(Errno) { try Descriptors.write(bytes, to: number) }

    /// Reads at `offset` until `bytes` is full or the file ends; the number of bytes read.
    @discardableResult
    public func read(into bytes: inout [UInt8], at offset: Int64) throws(Errno) -> Int {
        var problem: Errno?
        let count = bytes.withUnsafeMutableBytes { buffer in
            do throws(Errno) { return try read(into: buffer, at: offset) } catch {
                problem = error
                return 0
            }
        }
        if let problem { throw problem }
        return count
    }

    /// Sets the modification time, seconds and nanoseconds since 1970, and no other.
    public func setModified(_ seconds: Int64, _ nanoseconds: Int64) throws(Errno) {
        let times = [
            SpecialTime.omitted, timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)),
        ]
        try check { futimens(number, times) }
    }

    /// Makes data and size survive power loss.
    public func synchronizeData() throws(Errno) { try check { fdatasync(number) } }
}

/// What utimensat(2) takes in the place of a time; the C library hides both from Swift.
public enum SpecialTime {
    /// UTIME_OMIT: leaves a time as it is.
    public static var omitted: timespec { timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2) }
    /// UTIME_NOW: sets it to the moment of the call.
    public static var now: timespec { timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1) }
}
