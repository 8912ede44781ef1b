internal import Glibc
internal import PathText

/// What has the name of a file of this program's own and is none.
public enum OddFile {
    /// Whether something is at `path` that is no regular file. A symlink is none: what it leads to is something
    /// else, which is not to be written to.
    public static func isAt(_ path: String) -> Bool {
        var status = stat()
        return lstat(path.cPath, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }
}
