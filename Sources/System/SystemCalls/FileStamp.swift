internal import CSystemShim
package import Glibc
internal import PathText

/// Which state of which file: equal stamps mean that nothing was written in between.
package struct FileStamp: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var size: Int64
    /// Times in nanoseconds.
    package var modified: Int64
    package var changed: Int64

    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }

    /// The stamp of what `path` names now; `nil` if there is nothing.
    package init?(path: String) {
        var status = stat()
        guard stat(path.cPath, &status) == 0 else { return nil }
        self.init(status)
    }

    /// When it was written, in seconds since 1970, rounded down, and the nanoseconds behind them.
    package var modifiedTime: (seconds: Int64, nanoseconds: Int64) {
        let (seconds, rest) = modified.quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0 ? (seconds - 1, rest + 1_000_000_000) : (seconds, rest)
    }

    /// Whether both are of one file, which nobody wrote to in between; its attributes may be others.
    package func isSameContent(as other: FileStamp) -> Bool {
        isSameFile(as: other) && size == other.size && modified == other.modified
    }

    /// Whether both are of one file, in whatever state.
    package func isSameFile(as other: FileStamp) -> Bool {
        device == other.device && inode == other.inode
    }
}
