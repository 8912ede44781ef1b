internal import Glibc

/// What stat(2) says, with times in nanoseconds since 1970. All -1 where the call failed.
package struct FileStatus: Sendable, Hashable {
    /// st_dev.
    package var device = -1
    /// st_ino.
    package var inode = -1
    /// st_mode with the type.
    package var mode = -1
    /// st_nlink.
    package var links = -1
    /// st_uid.
    package var user = -1
    /// st_gid.
    package var group = -1
    /// st_rdev.
    package var deviceNumber = -1
    /// st_size in bytes.
    package var size = -1
    /// st_blocks, of 512 bytes.
    package var blocks = -1
    /// st_atim.
    package var accessed = -1
    /// st_mtim.
    package var modified = -1
    /// st_ctim.
    package var changed = -1

    /// The permission bits with setuid, setgid and sticky.
    package var permissions: Int { mode < 0 ? -1 : mode & 0o7777 }
    /// S_IFREG and so on.
    package var kind: Int { mode < 0 ? -1 : mode & 0o170000 }
    /// Whether it is a regular file.
    package var isFile: Bool { kind == 0o100000 }
    /// Whether it is a directory.
    package var isDirectory: Bool { kind == 0o040000 }
    /// Whether it is a symbolic link.
    package var isLink: Bool { kind == 0o120000 }

    /// The status of a call that failed.
    package init() {}

    /// Reads what the kernel wrote.
    package init(raw: [UInt8]) {
        guard raw.count >= MemoryLayout<stat>.size else { return }
        let status = raw.withUnsafeBytes { $0.loadUnaligned(as: stat.self) }
        device = Int(bitPattern: UInt(status.st_dev))
        inode = Int(bitPattern: UInt(status.st_ino))
        mode = Int(status.st_mode)
        links = Int(status.st_nlink)
        user = Int(status.st_uid)
        group = Int(status.st_gid)
        deviceNumber = Int(status.st_rdev)
        size = Int(status.st_size)
        blocks = Int(status.st_blocks)
        accessed = Self.nanoseconds(status.st_atim)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }
}
