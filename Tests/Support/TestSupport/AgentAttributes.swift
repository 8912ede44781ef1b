internal import CKernel
internal import Glibc
internal import Probing
package import Testing

extension Agent {
    /// stat(2), or lstat(2).
    @discardableResult
    package func status(
        _ path: ByteString, following: Bool = true, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> FileStatus {
        let reply = call(
            "stat \(path)", SYS_newfstatat,
            [
                .integer(Int(AT_FDCWD)), .input(path.bytes), .output(MemoryLayout<stat>.size),
                .integer(following ? 0 : Int(AT_SYMLINK_NOFOLLOW)),
            ], fails: fails, at: location)
        return reply.result < 0 ? FileStatus() : FileStatus(raw: reply.buffers.first ?? [])
    }

    /// fstat(2).
    @discardableResult
    package func status(
        _ descriptor: Descriptor, fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) -> FileStatus {
        let reply = call(
            "fstat", SYS_fstat, [.integer(descriptor.number), .output(MemoryLayout<stat>.size)],
            fails: fails, at: location)
        return reply.result < 0 ? FileStatus() : FileStatus(raw: reply.buffers.first ?? [])
    }

    /// chmod(2).
    package func changeMode(
        _ path: ByteString, _ mode: Int, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "chmod \(path) to 0\(String(mode, radix: 8))", SYS_fchmodat,
            [.integer(Int(AT_FDCWD)), .input(path.bytes), .integer(mode)], fails: fails,
            at: location)
    }

    /// fchmod(2).
    package func changeMode(
        _ descriptor: Descriptor, _ mode: Int, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "fchmod", SYS_fchmod, [.integer(descriptor.number), .integer(mode)], fails: fails,
            at: location)
    }

    /// chown(2), or lchown(2); -1 leaves one of the two as it is.
    package func changeOwner(
        _ path: ByteString, user: Int = -1, group: Int = -1, following: Bool = true,
        fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "chown \(path) to \(user):\(group)", SYS_fchownat,
            [
                .integer(Int(AT_FDCWD)), .input(path.bytes), .integer(user), .integer(group),
                .integer(following ? 0 : Int(AT_SYMLINK_NOFOLLOW)),
            ], fails: fails, at: location)
    }

    /// fchown(2).
    package func changeOwner(
        _ descriptor: Descriptor, user: Int = -1, group: Int = -1, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "fchown to \(user):\(group)", SYS_fchown,
            [.integer(descriptor.number), .integer(user), .integer(group)], fails: fails,
            at: location)
    }

    /// utimensat(2); nil for both times means "now" (a null pointer).
    package func setTimes(
        _ path: ByteString, accessed: FileTime?, modified: FileTime?, following: Bool = true,
        fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "utimensat \(path)", SYS_utimensat,
            [
                .integer(Int(AT_FDCWD)), .input(path.bytes),
                Self.times(accessed, modified),
                .integer(following ? 0 : Int(AT_SYMLINK_NOFOLLOW)),
            ], fails: fails, at: location)
    }

    /// futimens(3).
    package func setTimes(
        _ descriptor: Descriptor, accessed: FileTime?, modified: FileTime?, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "futimens", SYS_utimensat,
            [
                .integer(descriptor.number), .integer(0), Self.times(accessed, modified),
                .integer(0),
            ], fails: fails, at: location)
    }

    private static func times(_ accessed: FileTime?, _ modified: FileTime?) -> CallArgument {
        guard let accessed, let modified else { return .integer(0) }
        return .input(accessed.bytes + modified.bytes)
    }

    /// truncate(2).
    package func truncate(
        _ path: ByteString, size: Int, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "truncate \(path) to \(size)", SYS_truncate, [.input(path.bytes), .integer(size)],
            fails: fails, at: location)
    }

    /// truncate(2) without waiting for its end.
    package func beginTruncate(_ path: ByteString, size: Int) {
        begin(
            "truncate \(path) to \(size)",
            .call(
                number: Int(SYS_truncate), arguments: [.input(path.bytes), .integer(size)],
                onNewThread: false))
    }

    /// access(2) with R_OK and so on.
    package func access(
        _ path: ByteString, _ wanted: Int32, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "access \(path) \(wanted)", SYS_faccessat,
            [.integer(Int(AT_FDCWD)), .input(path.bytes), .integer(Int(wanted))], fails: fails,
            at: location)
    }

    /// umask(2); the one before.
    @discardableResult
    package func setMask(_ mask: Int, at location: SourceLocation = #_sourceLocation) -> Int {
        call("umask", SYS_umask, [.integer(mask)], fails: [], at: location).result
    }

    /// statfs(2).
    package func fileSystemStatus(
        _ path: ByteString, at location: SourceLocation = #_sourceLocation
    ) -> FileSystemStatus {
        let reply = call(
            "statfs \(path)", SYS_statfs, [.input(path.bytes), .output(120)], fails: [],
            at: location)
        return FileSystemStatus(raw: reply.buffers.first ?? [])
    }
}

/// What statfs(2) says, in blocks of `blockSize` bytes. All 0 where the call failed.
package struct FileSystemStatus: Sendable {
    /// f_frsize.
    package var blockSize = 0
    /// f_blocks.
    package var blocks = 0
    /// f_bfree.
    package var free = 0
    /// f_bavail: what users other than root may take.
    package var available = 0
    /// f_namelen.
    package var longestName = 0

    /// Reads what the kernel wrote.
    package init(raw: [UInt8]) {
        // struct statfs is words of eight bytes on every 64-bit machine.
        let words = raw.withUnsafeBytes { Array($0.bindMemory(to: Int.self)) }
        guard words.count >= 11 else { return }
        blockSize = words[9]
        blocks = words[2]
        free = words[3]
        available = words[4]
        longestName = words[8]
    }
}

/// A time as utimensat(2) takes it.
package enum FileTime: Sendable {
    /// Seconds and nanoseconds since 1970.
    case at(seconds: Int, nanoseconds: Int)
    /// UTIME_NOW.
    case now
    /// UTIME_OMIT: stays as it is.
    case unchanged

    var bytes: [UInt8] {
        let pair: (Int, Int) =
            switch self {
            case .at(let seconds, let nanoseconds): (seconds, nanoseconds)
            case .now: (0, UtimeNow)
            case .unchanged: (0, UtimeOmit)
            }
        return withUnsafeBytes(of: pair) { Array($0) }
    }
}
