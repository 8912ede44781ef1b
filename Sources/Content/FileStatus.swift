package import Glibc
package import Model

/// What `fstat` tells of a content file.
package struct FileStatus: Sendable, Equatable {
    package var size: Int64
    /// 512-byte blocks.
    package var blocks: Int64
    package var modified: Timestamp
    package var changed: Timestamp

    /// What was recorded of a session when a close was acknowledged.
    package init(_ row: SessionRow) {
        size = row.size
        blocks = (row.size + 511) / 512
        modified = row.modified
        changed = row.changed
    }

    package init(_ status: stat) {
        size = Int64(status.st_size)
        blocks = Int64(status.st_blocks)
        modified = Timestamp(
            seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec))
        changed = Timestamp(
            seconds: Int64(status.st_ctim.tv_sec), nanoseconds: Int64(status.st_ctim.tv_nsec))
    }
}
