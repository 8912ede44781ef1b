package import Glibc
package import Model

/// What `fstat` tells of a content file. Two are equal if nothing was written in between.
package struct FileStatus: Sendable, Equatable {
    package var size: Int64
    /// 512-byte blocks.
    package var blocks: Int64
    package var modified: Timestamp
    package var changed: Timestamp

    /// Without the blocks: of those the disk takes and gives some by itself, as when it writes a file out.
    package static func == (one: FileStatus, other: FileStatus) -> Bool {
        one.size == other.size && one.modified == other.modified && one.changed == other.changed
    }

    /// A content of `size` bytes that was written at `moment`.
    package init(size: Int64, moment: Timestamp) {
        self.size = size
        // As ext4 counts them, in pages.
        blocks = (size + 4095) / 4096 * 8
        modified = moment
        changed = moment
    }

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
