internal import Documents
internal import Glibc
package import Model
internal import PathText
internal import SystemCalls

/// Files that programs make of documents: pictures, exports, converted ones.
package enum WrittenFile {
    /// Writes a file whole: it gets its name when all bytes are on the disk.
    ///
    /// - Parameter overwriting: whether an existing file is replaced; else that is a failure of kind
    ///   ``Failure/Kind/cannotCreate``.
    package static func put(
        _ bytes: [UInt8], at path: String, overwriting: Bool
    ) throws(Failure) {
        do throws(Errno) {
            // A symlink stays, and what it names is replaced.
            guard overwriting, let found = realpath(path.cPath, nil) else {
                if overwriting, isNameless(path) {
                    try OwnedDescriptor.open(path, O_WRONLY).write(bytes)
                } else {
                    try WholeFile.create(path, bytes)
                }
                return
            }
            let target = String(cPath: found)
            free(found)
            try replace(target, bytes)
        } catch {
            switch error.code {
            case EEXIST:
                throw Failure(.cannotCreate, "\(path) exists already and is left as it is")
            case ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP:
                throw Failure(.cannotCreate, "\(path): \(error)")
            default: throw Failure(path, error)
            }
        }
    }

    /// Whether a file is there that is one of our documents, by its name or its content.
    package static func isDocument(_ path: String) -> Bool {
        guard let found = realpath(path.cPath, nil) else { return false }
        defer { free(found) }
        let target = String(cPath: found)
        var status = stat()
        guard stat(target.cPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return false
        }
        if DocumentType(fileName: target) != nil { return true }
        guard let file = try? OwnedDescriptor.open(target, O_RDONLY),
            let bytes = try? WholeFile.read(file)
        else { return false }
        return DocumentType(content: bytes) != nil
    }

    /// Whether two paths lead to one file.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one.cPath, &first) == 0 && stat(other.cPath, &second) == 0
            && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    /// Whether a path leads to what has no name of its own, as `/dev/stdout` and `/dev/fd/63` to a pipe.
    private static func isNameless(_ path: String) -> Bool {
        var status = stat()
        return stat(path.cPath, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    private static func replace(_ path: String, _ bytes: [UInt8]) throws(Errno) {
        var status = stat()
        _ = try check { stat(path.cPath, &status) }
        if status.st_mode & S_IFMT == S_IFREG {
            try WholeFile.checkWritable(path)
            _ = try WholeFile.replace(
                path, with: bytes, like: try OwnedDescriptor.open(path, O_RDONLY))
            return
        }
        // A device or pipe is written to, not replaced.
        try OwnedDescriptor.open(path, O_WRONLY).write(bytes)
    }
}
