internal import Glibc
internal import PathText
internal import SystemCalls

/// Reading and writing a document's file as a whole, under a claim of the caller's.
enum DocumentBytes {
    /// No document is larger, in bytes.
    static let limit = 1 << 31

    /// What the file holds; `nil` if there is none. Throws for what is no regular file: to open a pipe
    /// would wait for a writer.
    static func read(_ path: String) throws(DocumentProblem) -> (
        bytes: [UInt8], state: DocumentFileState
    )? {
        var status = stat()
        if stat(path.cPath, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw .file("\(path): a folder or something else that is no file has its name now")
        }
        do throws(Errno) {
            let file = try OwnedDescriptor.open(path, O_RDONLY)
            // What is written while it is read gives it another stamp.
            let moment = WallClock.now
            let stamp = FileStamp(try file.status())
            let bytes = try WholeFile.read(file, limit: limit)
            let digest = try Hashing.sha256(bytes)
            return (bytes, DocumentFileState(stamp, digest: digest, at: moment))
        } catch {
            if [ENOENT, ENOTDIR].contains(error.code) { return nil }
            throw .file("\(path): \(ContentReason.words(error, path))")
        }
    }

    /// Makes `bytes` the content of the file.
    ///
    /// - Parameters:
    ///   - digest: of the bytes.
    ///   - isNew: there is no file, and is not to be one.
    ///   - isMounted: one open and one close publish them as one version; elsewhere a new file with
    ///     the mode, owner and attributes of the old one takes its name, so that a reader sees either,
    ///     if that is possible without taking another name away from it.
    static func write(
        _ bytes: [UInt8], digest: [UInt8], to path: String, isNew: Bool, isMounted: Bool
    ) throws(DocumentProblem) -> DocumentFileState {
        do throws(Errno) {
            if isNew {
                try WholeFile.create(path, bytes)
            } else if isMounted {
                let file = try OwnedDescriptor.open(path, O_WRONLY)
                try MountDraft.write(file) { (_) throws(Errno) in
                    try WholeFile.overwrite(file, with: bytes)
                }
                // The close publishes the version, or says why not.
                try file.close()
            } else {
                let former = try OwnedDescriptor.open(path, O_RDONLY)
                if let file = try WholeFile.save(path, with: bytes, over: former) {
                    // Of the file that was written: the name may lead to another one already.
                    return DocumentFileState(
                        FileStamp(try file.status()), digest: digest, at: nil)
                }
            }
            // Other programs are kept out by the claim.
            guard let stamp = FileStamp(path: path) else { throw Errno.last }
            return DocumentFileState(stamp, digest: digest, at: nil)
        } catch { throw .file("\(path): \(error)") }
    }
}
