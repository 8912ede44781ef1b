internal import Glibc
package import Model
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
    package func conflicts() throws(Failure) -> [DocumentVersion] {
        try list().filter(\.isConflict)
    }

    /// Ends the conflict with a version; it stays among the others as long as those do.
    package func resolve(_ version: DocumentVersion) throws(Failure) {
        try mark(version, "conflict", "none")
    }

    /// Makes a document of its own of a version, beside the document.
    ///
    /// - Returns: its path, as the document was named.
    package func copyBeside(_ version: DocumentVersion) throws(Failure) -> String {
        let source = try content(of: version)
        let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
        let file = String(name.dropFirst(folder.count))
        let dot = file.lastIndex(of: ".").flatMap { $0 == file.startIndex ? nil : $0 }
        let (stem, suffix) = dot.map { (file[..<$0], file[$0...]) } ?? (file[...], "")
        // Files of versions begin with the moment.
        let moment = version.path.split(separator: "/").last?.prefix { $0 != "Z" } ?? ""
        var number = 1
        while true {
            let end = number == 1 ? "" : " \(number)"
            let copy = "\(folder)\(stem) (conflict \(moment)Z\(end))\(suffix)"
            do throws(Errno) {
                let mode = try source.status().st_mode & 0o777 | 0o200
                let target = try OwnedDescriptor.open(
                    copy, O_RDWR | O_CREAT | O_EXCL, mode: mode)
                do throws(Errno) {
                    try WholeFile.copy(
                        source, to: target, size: Int64(try source.status().st_size))
                } catch {
                    unlink(copy)
                    throw error
                }
                return copy
            } catch {
                guard error.code == EEXIST else { throw Failure(copy, error) }
                number += 1
            }
        }
    }

    /// Has somebody merge a version into the current one and writes the result, unless it was changed
    /// by others meanwhile. Nothing changes if the merging fails.
    ///
    /// - Parameter merge: writes ``ConflictFiles/merged``; false if it gave up.
    package func merge(
        _ version: DocumentVersion, _ merge: (ConflictFiles) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        let before = try current().name
        var template = Array("\(Self.temporaryFolder)/shapeedit-merge-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(Self.temporaryFolder, Errno.last) }
        let folder = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Programs know a type by its ending.
        let file = path.split(separator: "/").last.map(String.init) ?? ""
        let files = ConflictFiles(
            current: "\(folder)/current-\(file)", other: "\(folder)/other-\(file)",
            merged: "\(folder)/merged-\(file)")
        defer {
            for path in [files.current, files.other, files.merged] { unlink(path) }
            rmdir(folder)
        }
        try Self.copy(path, to: files.current)
        try Self.copy(path, to: files.merged)
        try Self.copy(version.path, to: files.other)
        guard try merge(files) else { return false }
        let claim = try FileClaim(path)
        if try current().name != before {
            throw Failure(
                .temporary, "\(name): it was saved by somebody else while it was merged; again?")
        }
        let merged: OwnedDescriptor
        do throws(Errno) { merged = try OwnedDescriptor.open(files.merged, O_RDONLY) } catch {
            throw Failure(files.merged, error)
        }
        _ = try Restoring(path: path, name: name).run(
            from: merged, claim, describedAs: "merge \(version.name)")
        return true
    }

    private static var temporaryFolder: String {
        getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    }

    private static func copy(_ path: String, to copy: String) throws(Failure) {
        do throws(Errno) {
            let source = try OwnedDescriptor.open(path, O_RDONLY)
            let target = try OwnedDescriptor.open(copy, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            try WholeFile.copy(source, to: target, size: Int64(try source.status().st_size))
        } catch { throw Failure(path, error) }
    }
}
