internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import SystemCalls

/// Contents that may be of changes that went with the journal, when somebody removed that after a crash.
/// What was acknowledged is not to be gone in silence.
struct LostContents {
    let index: MemoryIndex
    let database: CatalogDatabase
    let content: LocalContent

    /// Whether a staged content may be of a version that the catalog does not know.
    func isUnknown(_ node: NodeNumber) throws(Failure) -> Bool {
        if try database.version(node.item, node.ordinal) != nil { return false }
        // One before the current version is gone because it was to go.
        let position = index.find(node.item)
        return position == 0 || index[item: position].pointee.ordinal <= node.ordinal
    }

    /// Moves them to ``ContainerFolder/lost``, from where nothing takes them.
    ///
    /// - Parameter kept: staged contents of versions that recovery made.
    /// - Returns: how many are there now, also by an opening that was cut off after that.
    func setAside(except kept: Set<NodeNumber>) throws(Failure) -> Int {
        let blobs = try unneededBlobs()
        var nodes: [NodeNumber] = []
        for node in try staged() where !kept.contains(node) && !isEmpty(node) {
            if try isUnknown(node) { nodes.append(node) }
        }
        do throws(Errno) {
            for node in nodes { try content.setAside(node) }
            for hash in blobs { try content.setAside(hash) }
        } catch {
            throw Failure(
                .inputOutput, "\(content.folder.lost): \(error)",
                isDiskFull: error.isNoRoom)
        }
        return try names(in: content.folder.lost).count
    }

    private func staged() throws(Failure) -> Set<NodeNumber> {
        let names = try names(in: content.folder.staging)
        return Set(names.compactMap(ContainerFolder.node(of:)) + content.packed.nodes)
    }

    /// Empty for a folder that is not there. One that cannot be listed is not empty: what is in it would be gone
    /// in silence after all.
    private func names(in folder: String) throws(Failure) -> [String] {
        do throws(Errno) { return try Directories.names(in: folder) } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return [] }
            throw Failure(.inputOutput, "\(folder): \(error)")
        }
    }

    private func isEmpty(_ node: NodeNumber) -> Bool {
        (try? content.stagingStatus(node))?.size == 0
    }

    /// Sealed contents that no version has: the change that made one sealed may be among the lost.
    private func unneededBlobs() throws(Failure) -> [ContentHash] {
        var result: [ContentHash] = []
        for shelf in try names(in: content.folder.blobs) {
            for name in try names(in: content.folder.blobs + "/" + shelf) {
                if let hash = ContainerFolder.hash(of: name), try !database.isReferenced(hash) {
                    result.append(hash)
                }
            }
        }
        return result
    }
}
