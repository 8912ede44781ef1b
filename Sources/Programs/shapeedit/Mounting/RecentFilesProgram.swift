import FileSystem
import Glibc
import RecentFiles

/// The user's list of recently used files, as a mount keeps it.
enum RecentFilesProgram {
    /// nil for a mount that leaves the list alone: on demand, without a home, with the list inside the
    /// mount, and where root mounts for others, whose documents are none of root's.
    static func options(_ options: MountOptions, _ point: String) -> RecentFilesOptions? {
        let isForOthers = geteuid() == 0 && options.fuse.contains("allow_other")
        guard options.keepsRecentFiles, !isForOthers, let file = RecentFilesWorker.file,
            !file.hasPrefix(point + "/")
        else { return nil }
        return RecentFilesOptions(program: Helper.program, file: file, mountPoint: point)
    }
}
