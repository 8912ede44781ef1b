internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Where a regular file that a user named really is.
enum FoundFile {
    /// Its path, absolute and without symlinks; a failure that names it if there is none.
    static func path(of name: String) throws(Failure) -> String {
        guard let resolved = realpath(name.cPath, nil) else {
            let error = Errno.last
            // What only a descriptor leads to, as /dev/stdin to a pipe, is there and has no path.
            if error.code == ENOENT { try check(name, named: name) }
            throw Failure(name, error)
        }
        defer { free(resolved) }
        let path = String(cPath: resolved)
        try check(path, named: name)
        return path
    }

    /// Fails unless a regular file is there: to open a pipe that nobody writes to would take for ever.
    ///
    /// - Parameter name: as the user named it, for messages.
    static func check(_ path: String, named name: String) throws(Failure) {
        var status = stat()
        guard stat(path.cPath, &status) == 0 else { throw Failure(name, Errno.last) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.noInput, "\(name): not a regular file")
        }
    }
}
