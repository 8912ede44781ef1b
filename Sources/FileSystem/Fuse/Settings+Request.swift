internal import CFuseShim
internal import Glibc
internal import Model

extension Settings {
    /// What a SETATTR sets.
    init(_ status: stat, _ valid: Int32) {
        self.init()
        if valid & FUSE_SET_ATTR_MODE != 0 { mode = status.st_mode }
        if valid & FUSE_SET_ATTR_UID != 0 { user = status.st_uid }
        if valid & FUSE_SET_ATTR_GID != 0 { group = status.st_gid }
        if valid & FUSE_SET_ATTR_SIZE != 0 { size = Int64(status.st_size) }
        if valid & FUSE_SET_ATTR_ATIME_NOW != 0 {
            accessed = .now
        } else if valid & FUSE_SET_ATTR_ATIME != 0 {
            accessed = .at(Timestamp(status.st_atim))
        }
        if valid & FUSE_SET_ATTR_MTIME_NOW != 0 {
            modified = .now
        } else if valid & FUSE_SET_ATTR_MTIME != 0 {
            modified = .at(Timestamp(status.st_mtim))
        }
    }
}

extension Timestamp {
    init(_ moment: timespec) {
        self.init(seconds: Int64(moment.tv_sec), nanoseconds: Int64(moment.tv_nsec))
    }
}
