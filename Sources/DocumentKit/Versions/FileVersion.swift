internal import Glibc
internal import PathText
internal import SystemCalls

/// One version of a document: the current one, an earlier one, or one that somebody replaced who had not
/// seen it.
///
/// A container keeps earlier versions: all of the last hour, one an hour for a day and one a day for a month,
/// fewer when space is short; and those that are pinned or of a conflict, until they are no more. Nobody
/// removes one by hand. Elsewhere, and in the mount of an application that a document of another container was
/// granted to, there is the current one only.
///
/// A value that says what was so when it was asked for. Any thread; the calls wait for the disk, and for a
/// content that is only in the store.
public struct FileVersion: Hashable, Sendable {
    /// The document, where it was then; absolute, without symlinks.
    public internal(set) var document: String
    /// What it is called, as in `17-3`, and no other version of the container ever; empty outside of
    /// containers.
    public internal(set) var name: String
    /// The file that holds its content; for the current version the document itself, which may have another
    /// by now, which ``contents(limit:)`` minds. Not to be written.
    public internal(set) var path: String
    /// The content's modification time, in nanoseconds since 1970.
    public internal(set) var modified: Int64
    /// When it became the current version, in nanoseconds since 1970; `nil` of the current one.
    public internal(set) var published: Int64?
    /// Bytes.
    public internal(set) var size: Int64
    /// The user who wrote it; `nil` of the current one.
    public internal(set) var author: UInt32?
    /// Whether it is what the document holds.
    public internal(set) var isCurrent: Bool
    /// Whether it stays whatever its age.
    public package(set) var isPinned: Bool
    /// Whether it was replaced by somebody who had not seen it, and nobody has resolved that.
    public internal(set) var isConflict: Bool
    /// Whether the content is here, not only in the store.
    public internal(set) var isLocal: Bool

    /// The version that a document has.
    ///
    /// - Throws: `file` if there is no such document.
    public static func current(of path: String) throws(DocumentProblem) -> FileVersion {
        let place = try place(of: path)
        do throws(Errno) {
            if let files = files(of: place) { return try files.current() }
            guard let stamp = FileStamp(path: place) else { throw Errno.last }
            return FileVersion(
                document: place, name: "", path: place, modified: stamp.modified, published: nil,
                size: Int64(stamp.size), author: nil, isCurrent: true, isPinned: false,
                isConflict: false, isLocal: true)
        } catch { throw .file("\(path): \(error)") }
    }

    /// All versions of a document, oldest first; the last one is the current one.
    ///
    /// - Throws: `file` if there is no such document.
    public static func all(of path: String) throws(DocumentProblem) -> [FileVersion] {
        let place = try place(of: path)
        guard let files = files(of: place) else { return [try current(of: path)] }
        do throws(Errno) { return try files.all() } catch { throw .file("\(path): \(error)") }
    }

    /// Those of a document that somebody replaced who had not seen them, oldest first.
    ///
    /// - Throws: `file` if there is no such document.
    public static func conflicts(of path: String) throws(DocumentProblem) -> [FileVersion] {
        try all(of: path).filter(\.isConflict)
    }

    /// What it holds.
    ///
    /// - Parameter limit: no more bytes than these are read.
    /// - Throws: `file`, also where it is not kept any more, or the document has been moved since.
    public func contents(limit: Int = 1 << 31) throws(DocumentProblem) -> [UInt8] {
        do throws(Errno) { return try WholeFile.read(try open(), limit: limit) } catch {
            throw problem(error)
        }
    }

    /// Makes its content the document's, as one version. What it replaces is an earlier version in turn, and
    /// is kept apart from those before it, so this can be taken back by restoring that.
    ///
    /// - Parameters:
    ///   - coordinator: claims the document meanwhile; the presentation that it works for is told nothing.
    ///   - limit: how long others are waited for.
    /// - Returns: whether the document had another content.
    /// - Throws: `file` or ``CoordinationError``; the document is as it was then, but for `claimLost`.
    @discardableResult
    public func restore(
        by coordinator: FileCoordinator = FileCoordinator(), waiting limit: Duration = .seconds(10)
    ) throws -> Bool {
        if name.isEmpty { return false }
        return try coordinator.coordinate([FileIntent(document, .write)], waiting: limit) { paths in
            do throws(Errno) {
                // Moved while it was waited for, it has its versions elsewhere.
                guard let files = VersionFiles(of: paths[0]) else { throw Errno.last }
                let source = try files.open(self)
                let file = try OwnedDescriptor.open(paths[0], O_RDWR)
                if try ContentCopy.isSame(source, file) { return false }
                try file.instruct("user.shapeedit.apart", "current")
                try ContentCopy.write(source, over: file)
                // The close publishes it, or says why not. Who looks waits for that: after the claim nobody would
                // know on whose behalf it was.
                try file.close()
                _ = FileStamp(path: paths[0])
                return true
            } catch { throw problem(error) }
        }
    }

    /// Keeps it whatever its age and however full the disk is, or lets it go when its time comes.
    ///
    /// - Throws: `file`, also outside of containers, where nothing keeps it.
    public mutating func pin(_ stays: Bool = true) throws(DocumentProblem) {
        try mark("pin", stays ? "keep" : "default")
        isPinned = stays
    }

    /// Ends its conflict: it stays among the earlier versions as long as those do. For who has looked at it,
    /// and restored it, copied it, merged it, or wants none of it.
    ///
    /// - Throws: `file`, also outside of containers, where there are no conflicts.
    public mutating func resolve() throws(DocumentProblem) {
        try mark("conflict", "none")
        isConflict = false
    }

    private func mark(_ key: String, _ value: String) throws(DocumentProblem) {
        do throws(Errno) {
            guard !name.isEmpty, let files = VersionFiles(of: document) else { throw Errno(ENODEV) }
            try files.mark(name, key, value)
        } catch { throw problem(error) }
    }

    private func open() throws(Errno) -> OwnedDescriptor {
        if !name.isEmpty, let files = VersionFiles(of: document) { return try files.open(self) }
        return try OwnedDescriptor.open(path, O_RDONLY)
    }

    private func problem(_ error: Errno) -> DocumentProblem {
        switch error.code {
        case ENODEV: .file("\(document): it is in no container that keeps versions of it")
        case ENOENT where access(document.cPath, F_OK) == 0:
            .file("\(document): the version \(name) is gone")
        default: .file("\(document): \(ContentReason.words(error, path))")
        }
    }

    /// The path of a regular file, absolute and without symlinks.
    private static func place(of path: String) throws(DocumentProblem) -> String {
        var status = stat()
        guard let place = MountTable.resolved(path), stat(place.cPath, &status) == 0 else {
            throw .file("\(path): \(Errno.last)")
        }
        if status.st_mode & S_IFMT != S_IFREG { throw .file("\(path): not a regular file") }
        return place
    }

    /// `nil` outside of containers, and where a container is not the document's own.
    private static func files(of place: String) -> VersionFiles? {
        guard MountAttributes.isMounted(place),
            let files = VersionFiles(of: place), !files.areElsewhere
        else { return nil }
        return files
    }
}
