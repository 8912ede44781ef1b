internal import Documents
internal import Glibc
package import Model
internal import PathText
internal import SystemCalls

/// The versions of a document in a mount of ours: what there is, which stay, and the way back.
///
/// For files of any kind. Any thread; blocks on the disk, on locks for no more than ten seconds, and
/// where a version's content is in a store, on that.
package struct DocumentVersions: Sendable {
    /// Absolute, without symlinks.
    let path: String
    /// As the caller named it, for messages.
    let name: String
    private let folder: String

    /// Finds the document; a failure of kind usage if it is in no mount, or another container grants
    /// it to the app whose mount this is.
    package init(_ name: String) throws(Failure) {
        self.name = name
        path = try FoundFile.path(of: name)
        do throws(Errno) {
            _ = try PathAttributes.value("user.shapeedit.container", of: path)
        } catch {
            // It may have gone since it was found; what may not be read does not tell where it is.
            throw [ENOENT, EACCES].contains(error.code)
                ? Failure(name, error) : Failure.notMounted(name)
        }
        guard let folder = MountVersions.folder(of: path) else {
            throw access(path.cPath, F_OK) == 0
                ? Failure.notMounted(name) : Failure(name, Errno(ENOENT))
        }
        // An app's mount has none of a document that was granted to it, nor of the folder that shows it. It
        // is said before the document is claimed: there that takes its lock, and who restores wants it again.
        // A document that goes just now is still there for access(2) for a moment.
        if access(folder.parentPath.cPath, F_OK) != 0, errno == ENOENT,
            access(path.cPath, F_OK) == 0
        {
            throw Failure(.usage, "\(name): its versions are in the mount of its container only")
        }
        self.folder = folder
    }

    // MARK: What there is

    /// All versions, oldest first; the last one is current.
    package func list() throws(Failure) -> [DocumentVersion] {
        let current = try current()
        let names: [String]
        do throws(Errno) { names = try Directories.names(in: folder) } catch {
            throw Failure(name, error)
        }
        var versions: [DocumentVersion] = []
        for file in names {
            do throws(Errno) { versions.append(try Self.earlier(folder + "/" + file)) } catch {
                // One that was thinned out since is none any more; without a daemon none can be had.
                let failure = Failure(name, error)
                if failure.kind == .unavailable { throw failure }
            }
        }
        versions.sort { ($0.published ?? 0, $0.name) < ($1.published ?? 0, $1.name) }
        return versions + [current]
    }

    private static func earlier(_ path: String) throws(Errno) -> DocumentVersion {
        func text(_ key: String) throws(Errno) -> String {
            String(
                decoding: try PathAttributes.value("user.shapeedit." + key, of: path),
                as: UTF8.self)
        }
        var status = stat()
        _ = try check { stat(path.cPath, &status) }
        return DocumentVersion(
            name: try text("version"), path: path, modified: FileStamp(status).modified,
            published: try MountVersions.published(path),
            size: Int64(status.st_size), author: UInt32(try text("author")), isCurrent: false,
            isPinned: try text("pin") == "keep", isConflict: try text("conflict") == "unresolved",
            isLocal: try text("state") == "local")
    }

    func current() throws(Failure) -> DocumentVersion {
        do throws(Errno) {
            var status = stat()
            _ = try check { stat(path.cPath, &status) }
            let ordinal = try text("version")
            let version = "\(status.st_ino)-\(ordinal)"
            let pin = try? text("pin." + version)
            let conflict = try? text("conflict." + version)
            return DocumentVersion(
                name: version, path: path, modified: FileStamp(status).modified, published: nil,
                size: Int64(status.st_size), author: nil, isCurrent: true,
                isPinned: pin == "keep", isConflict: conflict == "unresolved",
                isLocal: !["promise", "downloading"].contains(try text("state")))
        } catch { throw Failure(name, error) }
    }

    private func text(_ key: String) throws(Errno) -> String {
        String(
            decoding: try PathAttributes.value("user.shapeedit." + key, of: path), as: UTF8.self)
    }

    /// The version that `word` means: its name, or how its file's name begins (the moment).
    package func find(_ word: String) throws(Failure) -> DocumentVersion {
        let all = try list()
        if let exact = all.first(where: { $0.name == word }) { return exact }
        let begun = all.filter { version in
            guard !version.isCurrent, !word.isEmpty,
                let slash = version.path.lastIndex(of: "/")
            else { return false }
            return version.path[slash...].dropFirst().hasPrefix(word)
        }
        if begun.count == 1 { return begun[0] }
        throw Failure(
            .noInput,
            begun.isEmpty
                ? "\(name): there is no version \(word.isEmpty ? "''" : word); `shapeedit versions` lists them"
                : "\(name): several versions begin with \(word): "
                    + begun.map(\.name).joined(separator: ", "))
    }

    // MARK: Which stay

    /// Keeps a version until it is unpinned, or lets go of it.
    package func pin(_ word: String, _ isPinned: Bool) throws(Failure) -> DocumentVersion {
        var version = try find(word)
        try mark(version, "pin", isPinned ? "keep" : "default")
        version.isPinned = isPinned
        return version
    }

    /// Sets an attribute of the document that is about a version.
    func mark(_ version: DocumentVersion, _ key: String, _ value: String) throws(Failure) {
        do throws(Errno) {
            var attempts = 10
            while true {
                do throws(Errno) {
                    return try MountAttributes.set(
                        "user.shapeedit.\(key).\(version.name)", Array(value.utf8), of: path)
                } catch {
                    // It is being saved by renaming, again and again.
                    attempts -= 1
                    guard error.code == ESTALE, attempts > 0 else { throw error }
                }
            }
        } catch {
            switch error.code {
            case ENOENT: throw Failure(.noInput, "\(name): the version \(version.name) is gone")
            case ENODEV: throw Failure.notMounted(name)
            default: throw Failure(name, error)
            }
        }
    }

    // MARK: The way back

    /// Makes an earlier version's content the document's; without a word the newest that differs.
    ///
    /// - Returns: the version, or `nil` if the document has that content already.
    package func restore(_ word: String?) throws(Failure) -> DocumentVersion? {
        let claim = try FileClaim(path, named: name, isClaimed: true)
        let candidates: [DocumentVersion]
        if let word {
            candidates = [try find(word)]
        } else {
            candidates = try list().dropLast().reversed()
        }
        if candidates.isEmpty { throw Failure(.badData, "\(name): there is no earlier version") }
        for version in candidates where !version.isCurrent {
            let source: OwnedDescriptor
            do throws(Failure) { source = try content(of: version) } catch {
                // Since it was listed it has become one with a later save.
                if word == nil, access(version.path, F_OK) != 0 { continue }
                throw error
            }
            if try Restoring(path: path, name: name).run(
                from: source, claim, describedAs: "restore \(version.name)")
            {
                try claim.end(name)
                return version
            }
        }
        return nil
    }

    /// A version's file. Opening brings all of its content, and holds it.
    func content(of version: DocumentVersion) throws(Failure) -> OwnedDescriptor {
        do throws(Errno) { return try OwnedDescriptor.open(version.path, O_RDONLY) } catch {
            throw Failure(version.path, error)
        }
    }
}
