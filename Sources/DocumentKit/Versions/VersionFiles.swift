internal import Glibc
internal import PathText
package import SystemCalls

/// The versions of a document as the mount of its container shows them.
package struct VersionFiles: Sendable {
    /// Of the document; absolute, without symlinks.
    package let path: String
    /// Has the earlier ones.
    package let folder: String

    /// - Returns: `nil` if there is no such file, or nothing above it on its device.
    package init?(of path: String) {
        guard let root = Self.mountRoot(of: path) else { return nil }
        self.path = path
        folder = root + "/.shapeedit/versions" + path.dropFirst(root.count)
    }

    /// The highest folder above `path` on the same device.
    package static func mountRoot(of path: String) -> String? {
        var status = stat()
        guard stat(path.cPath, &status) == 0 else { return nil }
        let device = status.st_dev
        var root: String?
        var folder = path
        while folder != "/" {
            folder = folder.parentPath
            guard stat(folder.cPath, &status) == 0, status.st_dev == device else { break }
            root = folder == "/" ? "" : folder
        }
        return root
    }

    /// Whether the mount shows the versions of others than these: an app's mount has none of a document that was
    /// granted to it, nor of the folder that shows it.
    package var areElsewhere: Bool {
        // A document that goes just now is still there for access(2) for a moment.
        access(folder.parentPath.cPath, F_OK) != 0 && errno == ENOENT
            && access(path.cPath, F_OK) == 0
    }

    /// All versions, oldest first; the last one is current.
    package func all() throws(Errno) -> [FileVersion] {
        let current = try current()
        var versions: [FileVersion] = []
        for file in try Directories.names(in: folder) {
            do throws(Errno) { versions.append(try earlier(folder + "/" + file)) } catch {
                // One that was thinned out since is none any more; without a daemon none can be had.
                if [ENOTCONN, ECONNABORTED].contains(error.code) { throw error }
            }
        }
        versions.sort { ($0.published ?? 0, $0.name) < ($1.published ?? 0, $1.name) }
        return versions + [current]
    }

    private func earlier(_ file: String) throws(Errno) -> FileVersion {
        var status = stat()
        _ = try check { stat(file.cPath, &status) }
        return FileVersion(
            document: path, name: try Self.text("version", of: file), path: file,
            modified: FileStamp(status).modified, published: try Self.published(file),
            size: Int64(status.st_size), author: UInt32(try Self.text("author", of: file)),
            isCurrent: false, isPinned: try Self.text("pin", of: file) == "keep",
            isConflict: try Self.text("conflict", of: file) == "unresolved",
            isLocal: try Self.text("state", of: file) == "local")
    }

    /// The version that the document has.
    package func current() throws(Errno) -> FileVersion {
        for _ in 0..<30 {
            var status = stat()
            _ = try check { stat(path.cPath, &status) }
            let version = try current(status)
            // Saved by renaming in between it would have the one's number and the other's ordinal.
            if FileStamp(path: path) == FileStamp(status) { return version }
        }
        throw Errno(ESTALE)
    }

    private func current(_ status: stat) throws(Errno) -> FileVersion {
        let name = "\(status.st_ino)-\(try Self.text("version", of: path))"
        let pin = try? Self.text("pin." + name, of: path)
        let conflict = try? Self.text("conflict." + name, of: path)
        return FileVersion(
            document: path, name: name, path: path, modified: FileStamp(status).modified,
            published: nil, size: Int64(status.st_size), author: nil, isCurrent: true,
            isPinned: pin == "keep", isConflict: conflict == "unresolved",
            isLocal: !["promise", "downloading"].contains(try Self.text("state", of: path)))
    }

    /// When the version of that file became the current one, in nanoseconds since 1970.
    package static func published(_ file: String) throws(Errno) -> Int64? {
        let moment = try text("published", of: file).split(separator: ".").compactMap { Int64($0) }
        return moment.count == 2 ? moment[0] &* 1_000_000_000 &+ moment[1] : nil
    }

    private static func text(_ key: String, of file: String) throws(Errno) -> String {
        String(
            decoding: try PathAttributes.value("user.shapeedit." + key, of: file), as: UTF8.self)
    }

    /// Sets what the document says of a version; ENOENT if there is none of that name any more, ENODEV if this
    /// is no mount.
    package func mark(_ name: String, _ key: String, _ value: String) throws(Errno) {
        var attempts = 10
        while true {
            do throws(Errno) {
                return try MountAttributes.set(
                    "user.shapeedit.\(key).\(name)", Array(value.utf8), of: path)
            } catch {
                // It is being saved by renaming, again and again.
                attempts -= 1
                guard error.code == ESTALE, attempts > 0 else { throw error }
            }
        }
    }

    /// Opens the content of a version, wherever that is by now: the current one may have become an earlier one.
    /// Opening brings all of it, and holds it. ENOENT if there is none of that name any more.
    package func open(_ version: FileVersion) throws(Errno) -> OwnedDescriptor {
        var known: FileVersion? = version
        for _ in 0..<10 {
            guard let version = known else { throw Errno(ENOENT) }
            do throws(Errno) {
                let file = try OwnedDescriptor.open(version.path, O_RDONLY)
                if !version.isCurrent { return file }
                if try Self.name(of: file) == version.name { return file }
            } catch {
                // It was thinned out, or the document is being put in another's place.
                guard [ENOENT, ESTALE].contains(error.code) else { throw error }
            }
            known = try all().first { $0.name == version.name }
        }
        throw Errno(ESTALE)
    }

    /// Which version of its document a descriptor reads.
    private static func name(of file: borrowing OwnedDescriptor) throws(Errno) -> String? {
        guard let ordinal = file.attribute("user.shapeedit.version") else { return nil }
        return "\(try file.status().st_ino)-\(String(decoding: ordinal, as: UTF8.self))"
    }
}
