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
    /// - Returns: how many there were.
    func setAside(except kept: Set<NodeNumber>) throws(Failure) -> Int {
        do throws(Failure) {
            let blobs = try unneededBlobs()
            var nodes: [NodeNumber] = []
            for node in staged where !kept.contains(node) && !isEmpty(node) {
                if try isUnknown(node) { nodes.append(node) }
            }
            do throws(Errno) {
                for node in nodes { try content.setAside(node) }
                for hash in blobs { try content.setAside(hash) }
                return nodes.count + blobs.count
            } catch {
                throw Failure(
                    .inputOutput, "\(content.folder.lost): \(error)",
                    isDiskFull: error.isNoRoom)
            }
        } catch {
            // The next opening has to do it, and to find it missing too.
            try? Directories.removeTree(content.folder.journal)
            throw error
        }
    }

    private var staged: Set<NodeNumber> {
        let names = (try? Directories.names(in: content.folder.staging)) ?? []
        return Set(names.compactMap(ContainerFolder.node(of:)) + content.packed.nodes)
    }

    private func isEmpty(_ node: NodeNumber) -> Bool {
        (try? content.stagingStatus(node))?.size == 0
    }

    /// Sealed contents that no version has: the change that made one sealed may be among the lost.
    private func unneededBlobs() throws(Failure) -> [ContentHash] {
        var result: [ContentHash] = []
        for shelf in (try? Directories.names(in: content.folder.blobs)) ?? [] {
            let names = (try? Directories.names(in: content.folder.blobs + "/" + shelf)) ?? []
            for name in names {
                if let hash = ContainerFolder.hash(of: name), try !database.isReferenced(hash) {
                    result.append(hash)
                }
            }
        }
        return result
    }
}
