internal import Documents
internal import Glibc
package import Model
internal import PathText
package import SystemCalls

/// Files that programs make of documents: pictures, exports, converted ones.
package enum WrittenFile {
    /// Writes a file whole: it gets its name when all bytes are on the disk.
    ///
    /// What is no file, a pipe or a terminal, is written to. So is a descriptor of this process that is
    /// named by its path.
    ///
    /// - Parameters:
    ///   - overwriting: whether an existing file is replaced; else that is a failure of kind
    ///     ``Failure/Kind/cannotCreate``.
    ///   - body: gives the bytes away, part by part.
    package static func put(
        at path: String, overwriting: Bool,
        _ body: WholeFile.Parts
    ) throws(Failure) {
        // Beyond the longest file that the process may make (RLIMIT_FSIZE) a write fails, instead of
        // ending it with something left.
        let before = signal(SIGXFSZ, SIG_IGN)
        defer { signal(SIGXFSZ, before) }
        do throws(Errno) {
            if let open = try DescriptorPath.duplicate(path) { return try fill(open, body) }
            // A symlink stays, and what it names is replaced.
            guard overwriting || isStream(path), let found = realpath(path.cPath, nil) else {
                let draft = try draft(beside: path, body)
                _ = try WholeFile.create(path, mode: 0o666) { (file) throws(Errno) in
                    try fill(file, draft, body)
                }
                return
            }
            let target = String(cPath: found)
            free(found)
            try replace(target, body)
        } catch {
            switch error.code {
            case EEXIST:
                throw Failure(.cannotCreate, "\(path) exists already and is left as it is")
            case ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP:
                throw Failure(.cannotCreate, Failure(path, error).message)
            default: throw Failure(writing: path, error)
            }
        }
    }

    /// Whether a file is there that is one of our documents, by its name or its content. What a shell
    /// has opened for writing is none any more.
    package static func isDocument(_ path: String) -> Bool {
        guard DescriptorPath.number(path) == nil, let found = realpath(path.cPath, nil) else {
            return false
        }
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
        return (try? DocumentType(content: bytes)) != nil
    }

    /// Whether two paths lead to one file.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one.cPath, &first) == 0 && stat(other.cPath, &second) == 0
            && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    /// Whether a path leads to a pipe, or a device of characters such as a terminal.
    package static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard stat(path.cPath, &status) == 0 else { return false }
        return [S_IFIFO, S_IFCHR].contains(status.st_mode & S_IFMT)
    }

    /// Whether a path leads to what has no name of its own: a pipe or a removed file, as `/dev/stdin` or
    /// `/dev/fd/63`.
    ///
    /// A pipe with a name is none: to open that takes until somebody writes to it.
    package static func isNameless(_ path: String) -> Bool {
        var status = stat()
        guard stat(path.cPath, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            return false
        }
        guard let found = realpath(path.cPath, nil) else { return true }
        free(found)
        return false
    }

    /// The bytes of `body` in memory, where the file beside `path` has a temporary name until it is whole, as in
    /// mounts: what makes them may take long, and be ended meanwhile. Else nothing.
    private static func draft(
        beside path: String, _ body: WholeFile.Parts
    ) throws(Errno) -> OwnedDescriptor? {
        guard WholeFile.isOnFuse(beside: path) else { return nil }
        let draft = try OwnedDescriptor.inMemory()
        try fill(draft, body)
        return draft
    }

    private static func fill(
        _ file: borrowing OwnedDescriptor, _ draft: borrowing OwnedDescriptor?,
        _ body: WholeFile.Parts
    ) throws(Errno) {
        switch draft {
        case .some(let draft):
            try WholeFile.copy(draft, to: file, size: Int64(try draft.status().st_size))
        case .none: try fill(file, body)
        }
    }

    private static func fill(
        _ file: borrowing OwnedDescriptor,
        _ body: WholeFile.Parts
    ) throws(Errno) {
        let number = file.number
        try body { (bytes) throws(Errno) in try Descriptors.write(bytes, to: number) }
    }

    private static func replace(
        _ path: String, _ body: WholeFile.Parts
    ) throws(Errno) {
        var status = stat()
        _ = try check { stat(path.cPath, &status) }
        if status.st_mode & S_IFMT == S_IFREG {
            try WholeFile.checkWritable(path)
            let model = try OwnedDescriptor.open(path, O_RDONLY)
            let draft = try draft(beside: path, body)
            _ = try WholeFile.replace(path, like: model) { (file) throws(Errno) in
                try fill(file, draft, body)
            }
            return
        }
        // A device or pipe is written to, not replaced.
        try fill(try OwnedDescriptor.open(path, O_WRONLY), body)
    }
}
