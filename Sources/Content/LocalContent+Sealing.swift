internal import Glibc
package import Model
internal import PathText
package import SystemCalls

/// How staged contents become blobs.
extension LocalContent {
    /// The hash of a content, and how many bytes there were to hash.
    ///
    /// - Parameter anyLength: of so many bytes as the reference says, though there may be more.
    package func hash(
        _ content: ContentReference, anyLength: Bool = false
    ) throws(Errno) -> (hash: ContentHash, size: Int64)? {
        if let part = packed.part(content.node) {
            let bytes = try part.read()
            return ContentHash(bytes: try Hashing.sha256(bytes)).map { ($0, Int64(bytes.count)) }
        }
        guard let shared = try open(content, anyLength: anyLength) else { return nil }
        let (count, digest) = try shared.with { (file) throws(Errno) in
            try Hashing.sha256(of: file, size: content.size)
        }
        return ContentHash(bytes: digest).map { ($0, count) }
    }

    /// Makes what ``seal(_:hash:replacing:)`` needs: a file of its own, durable, and the folder that it
    /// goes to.
    package func prepareSealing(_ node: NodeNumber, hash: ContentHash) throws(Errno) {
        defer { forget(node) }
        try makeDurable(node, try openStaging(node))
        try Directories.make(folder.blobs + "/" + hash.description.prefix(2))
    }

    /// Moves a staged content, which is durable and has `hash`, to its place among the blobs.
    ///
    /// One that is frozen stays where it is: EPERM.
    ///
    /// - Parameter replacing: it takes the place of a blob that is there already, which is damaged. Else
    ///   the staged copy goes then.
    package func seal(
        _ node: NodeNumber, hash: ContentHash, replacing: Bool = false
    ) throws(Errno) {
        try seal(node, hash: hash, replacing: replacing, mayMakeFolder: true)
    }

    private func seal(
        _ node: NodeNumber, hash: ContentHash, replacing: Bool, mayMakeFolder: Bool
    ) throws(Errno) {
        try spill(node)
        let target = folder.blob(hash)
        let source = folder.staging(node)
        do throws(Errno) { try Directories.renameExclusively(source, target) } catch {
            switch error.code {
            case EPERM:
                thaw(source)
                try Directories.renameExclusively(source, target)
            case EEXIST:
                if replacing {
                    try replace(target, by: source)
                    return
                }
                if unlink(source.cPath) == 0 { return }
                // A crash left it so, or it is frozen and stays.
                thaw(source)
                unlink(source.cPath)
            case ENOENT:
                // Once more, and not again and again: what has the folder's name may be a link that leads nowhere.
                guard mayMakeFolder else { throw error }
                // The folder is missing, or the file.
                try check { access(source.cPath, F_OK) }
                try Directories.make(folder.blobs + "/" + hash.description.prefix(2))
                try seal(node, hash: hash, replacing: replacing, mayMakeFolder: false)
            default: throw error
            }
        }
    }

    /// Puts the good copy of a content in the place of a damaged one.
    private func replace(_ damaged: String, by source: String) throws(Errno) {
        if rename(source.cPath, damaged.cPath) == 0 { return }
        guard errno == EPERM else { throw Errno.last }
        thaw(source)
        thaw(damaged)
        try check { rename(source.cPath, damaged.cPath) }
    }

    /// Whether the blob that is here is not what its name says, or cannot be read: a good copy is not to be
    /// given up for it. Reads it, unless it is very large.
    package func isDamaged(_ hash: ContentHash, size: Int64) -> Bool {
        guard hasBlob(hash) else { return false }
        guard let file = try? Self.openFile(folder.blob(hash), O_RDONLY),
            let status = try? file.status()
        else { return hasBlob(hash) }
        if Int64(status.st_size) != size { return true }
        if size >= PartialHashing.threshold { return false }
        guard let (_, digest) = try? Hashing.sha256(of: file, size: size) else { return true }
        return ContentHash(bytes: digest) != hash
    }
}
