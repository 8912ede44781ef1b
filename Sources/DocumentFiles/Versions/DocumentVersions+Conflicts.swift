package import DocumentKit
package import Glibc
package import Model
internal import PathText
internal import SystemCalls

/// The files that a program merges a conflict with.
package struct ConflictFiles: Sendable {
    /// The current version, a copy.
    package let current: String
    /// The conflict version, a copy.
    package let other: String
    /// Where the result goes; the current version at first.
    package let merged: String
}

/// Conflicts: versions that were replaced by somebody who had not seen them.
extension DocumentVersions {
    /// The conflict versions, oldest first.
    package func conflicts() throws(Failure) -> [FileVersion] {
        try list().filter(\.isConflict)
    }

    /// Ends the conflict with a version; it stays among the others as long as those do.
    package func resolve(_ version: FileVersion) throws(Failure) {
        try mark(version, "conflict", "none")
    }

    /// Makes a new file with a version's content; fails where there is one.
    ///
    /// - Parameter mode: the permissions that it may have; others than the version's it has not.
    package func copy(
        _ version: FileVersion, to path: String, mode: mode_t = 0o777
    ) throws(Failure) {
        let source = try content(of: version)
        do throws(Errno) {
            let status = try source.status()
            let target = try OwnedDescriptor.open(
                path, O_WRONLY | O_CREAT | O_EXCL, mode: status.st_mode & mode & 0o777 | 0o200)
            do throws(Errno) {
                try WholeFile.copy(source, to: target, size: Int64(status.st_size))
            } catch {
                unlink(path.cPath)
                throw error
            }
        } catch { throw Failure(path, error) }
    }

    /// Has somebody merge a version into the current one and writes the result, unless it was changed
    /// by others meanwhile. Nothing changes if the merging fails.
    ///
    /// - Parameters:
    ///   - alone: runs what it is given while nobody else writes the document. Not during the merging,
    ///     which may take as long as a person does.
    ///   - merge: writes ``ConflictFiles/merged``; false if it gave up.
    package func merge(
        _ version: FileVersion, alone: (() throws(Failure) -> Void) throws(Failure) -> Void,
        by merge: (ConflictFiles) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        var template = "\(Self.temporaryFolder)/shapeedit-merge-XXXXXX".cPath
        guard mkdtemp(&template) != nil else { throw Failure(Self.temporaryFolder, Errno.last) }
        let folder = String(cPath: template)
        // Programs know a type by its ending. The document's name may be as long as names are.
        let file = String(path.lastName)
        func named(_ word: String) -> String { "\(folder)/" + AddedName.adding(word, to: file) }
        let files = ConflictFiles(
            current: named("-current"), other: named("-other"), merged: named("-merged"))
        defer {
            // Programs that merge leave backups beside what they write.
            for name in (try? Directories.names(in: folder)) ?? [] {
                unlink("\(folder)/\(name)".cPath)
            }
            rmdir(folder.cPath)
        }
        var before = try current()
        // Whoever shows the document has saved by then.
        try alone { () throws(Failure) in
            before = try current()
            try copy(before, to: files.current)
            try copy(before, to: files.merged)
        }
        try copy(version, to: files.other)
        guard try merge(files) else { return false }
        try alone { () throws(Failure) in
            try put(files.merged, over: before, describedAs: "merge \(version.name)")
        }
        return true
    }

    /// Makes a file's content the document's, unless that has another version by now.
    private func put(
        _ file: String, over before: FileVersion, describedAs description: String
    ) throws(Failure) {
        let claim = try FileClaim(path, named: name, isClaimed: true)
        if try current().name != before.name {
            throw Failure(
                .temporary, "\(name): it was saved by somebody else while it was merged; again?")
        }
        let merged: OwnedDescriptor
        do throws(Errno) { merged = try OwnedDescriptor.open(file, O_RDONLY) } catch {
            throw Failure(file, error)
        }
        _ = try Restoring(path: path, name: name).run(
            from: merged, claim, describedAs: description)
        try claim.end(name)
    }

    private static var temporaryFolder: String {
        getenv("TMPDIR").map { String(cPath: $0) } ?? "/tmp"
    }
}
