internal import Glibc
internal import PathText

/// What has the name of a file and is none.
public enum OddFile {
    /// Whether something is at `path` that is no regular file, nor a link that leads to one.
    public static func isAt(_ path: String) -> Bool {
        var status = stat()
        if stat(path.cPath, &status) == 0 { return status.st_mode & S_IFMT != S_IFREG }
        // A link that leads nowhere.
        return lstat(path.cPath, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}
