package import DocumentKit
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
    private let files: VersionFiles

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
        guard let files = VersionFiles(of: path) else {
            throw access(path.cPath, F_OK) == 0
                ? Failure.notMounted(name) : Failure(name, Errno(ENOENT))
        }
        // It is said before the document is claimed: in an app's mount that takes its lock, and who restores
        // wants it again.
        if files.areElsewhere {
            throw Failure(.usage, "\(name): its versions are in the mount of its container only")
        }
        self.files = files
    }

    // MARK: What there is

    /// All versions, oldest first; the last one is current.
    package func list() throws(Failure) -> [FileVersion] {
        do throws(Errno) { return try files.all() } catch { throw Failure(name, error) }
    }

    func current() throws(Failure) -> FileVersion {
        do throws(Errno) { return try files.current() } catch { throw Failure(name, error) }
    }

    /// The version that `word` means: its name, or how its file's name begins (the moment).
    package func find(_ word: String) throws(Failure) -> FileVersion {
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
                ? "\(name): there is no version \(Failure.shown(word)); `shapeedit versions` lists them"
                : "\(name): several versions begin with \(word): "
                    + begun.map(\.name).joined(separator: ", "))
    }

    // MARK: Which stay

    /// Keeps a version until it is unpinned, or lets go of it.
    package func pin(_ word: String, _ isPinned: Bool) throws(Failure) -> FileVersion {
        var version = try find(word)
        try mark(version, "pin", isPinned ? "keep" : "default")
        version.isPinned = isPinned
        return version
    }

    /// Sets an attribute of the document that is about a version.
    func mark(_ version: FileVersion, _ key: String, _ value: String) throws(Failure) {
        do throws(Errno) { try files.mark(version.name, key, value) } catch {
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
    package func restore(_ word: String?) throws(Failure) -> FileVersion? {
        let claim = try FileClaim(path, named: name, isClaimed: true)
        let candidates: [FileVersion]
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
                if word == nil, access(version.path.cPath, F_OK) != 0 { continue }
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

    /// A version's content. Opening brings all of it, and holds it.
    func content(of version: FileVersion) throws(Failure) -> OwnedDescriptor {
        do throws(Errno) { return try files.open(version) } catch {
            throw Failure(version.path, error)
        }
    }
}
