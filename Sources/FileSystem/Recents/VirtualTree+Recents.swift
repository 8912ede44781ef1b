internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// `.shapeedit/recents`: symlinks to the documents that were opened last, the last one first.
extension VirtualTree {
    /// The links with their names: the document's, with a number where several are called alike.
    func recents() -> [(String, VirtualNode)] {
        Self.distinct(
            volume.recentDocuments().map { entry in
                let name = entry.path.split(separator: UInt8(ascii: "/")).last ?? []
                let node = VirtualNode.recent(
                    entry.document, path: entry.path, opened: entry.opened)
                return (String(path: name), node)
            })
    }

    func recent(named name: String) throws(Errno) -> VirtualNode {
        let name = PathKey(name)
        guard let found = recents().first(where: { PathKey($0.0) == name }) else {
            throw Errno(ENOENT)
        }
        return found.1
    }
}
