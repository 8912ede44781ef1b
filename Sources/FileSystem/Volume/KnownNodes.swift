internal import Catalog
internal import Model

/// The nodes that the kernel knows of an item: that of the current version, that of a session, and old
/// ones.
extension VolumeState {
    /// Counts a lookup of `node`.
    func countLookup(_ node: NodeNumber, at position: MemoryIndex.Position) {
        if let session = session(of: node, at: position) {
            session.lookups.countLookup()
        } else if index[item: position].pointee.node == node {
            index[item: position].pointee.lookups.countLookup()
        } else {
            oldNodes[node.item.rawValue]?[node.rawValue]?.lookups.countLookup()
        }
    }

    /// Whether the kernel knows any node of the item.
    func isKnown(_ position: MemoryIndex.Position) -> Bool {
        let record = index[item: position]
        if record.pointee.lookups > 0 { return true }
        if record.pointee.flags.contains(.inSession) { return true }
        return record.pointee.flags.contains(.hasOldNodes)
    }

    /// Whether the kernel may have pages of a node from before its last write. It passes reads and writes
    /// to the backing file, past its pages, but readahead(2) and posix_fadvise(2) fill these all the same.
    func mayHaveStalePages(_ node: NodeNumber) -> Bool {
        let position = index.find(node.item)
        guard position != 0 else { return true }
        if let session = session(of: node, at: position) { return session.isWrittenUnseen }
        let record = index[item: position]
        return record.pointee.node != node || record.pointee.flags.contains(.mayHaveStalePages)
    }

    /// A handle is closed at whose open the kernel dropped the pages that it had of the node. Not at the
    /// open itself: another one's answer may overtake that one's.
    func noteFreshPages(_ node: NodeNumber) {
        let position = index.find(node.item)
        guard position != 0, index[item: position].pointee.node == node else { return }
        index[item: position].pointee.flags.remove(.mayHaveStalePages)
    }

    func oldNode(_ node: NodeNumber) -> OldNode? { oldNodes[node.item.rawValue]?[node.rawValue] }

    func keepOldNode(_ node: NodeNumber, _ old: OldNode, at position: MemoryIndex.Position) {
        oldNodes[node.item.rawValue, default: [:]][node.rawValue] = old
        index[item: position].pointee.flags.insert(.hasOldNodes)
    }

    func dropOldNode(_ node: NodeNumber, at position: MemoryIndex.Position) {
        oldNodes[node.item.rawValue]?[node.rawValue] = nil
        if oldNodes[node.item.rawValue]?.isEmpty == true {
            oldNodes[node.item.rawValue] = nil
            index[item: position].pointee.flags.remove(.hasOldNodes)
        }
    }

    /// Every node of an item that has more than one: after a change by name, which may have come by
    /// any of them.
    func nodes(_ position: MemoryIndex.Position) -> [NodeNumber] {
        let flags = index[item: position].pointee.flags
        if !flags.contains(.inSession), !flags.contains(.hasOldNodes) { return [] }
        return otherNodes(position, than: NodeNumber(rawValue: 0))
    }

    /// Other nodes of the item than `node`: the kernel caches the item's attributes under each.
    func otherNodes(_ position: MemoryIndex.Position, than node: NodeNumber) -> [NodeNumber] {
        let record = index[item: position]
        var nodes: [NodeNumber] = []
        if record.pointee.flags.contains(.hasOldNodes) {
            nodes = oldNodes[record.pointee.number]?.keys.map { NodeNumber(rawValue: $0) } ?? []
        }
        if record.pointee.flags.contains(.inSession), let session = sessions[position] {
            nodes.append(session.node)
        }
        nodes.append(record.pointee.node)
        return nodes.filter { $0 != node }
    }

    /// Whether the version is current, or somebody may still ask for its bytes.
    func needs(_ version: VersionRow) -> Bool {
        if drawn.contains(version.node) || held.contains(version.node) { return true }
        let position = index.find(version.item)
        guard position != 0 else { return false }
        return index[item: position].pointee.ordinal == version.ordinal
            || oldNode(version.node) != nil || sessions[position]?.base.node == version.node
            || oldNodes[version.item.rawValue]?.values.contains {
                $0.content.node == version.node
            } == true
    }

    /// Tells everything that refers to a version's bytes where they are now.
    func notePlace(
        _ place: ContentPlace, _ hash: ContentHash?, of node: NodeNumber,
        at position: MemoryIndex.Position
    ) {
        if let session = sessions[position], session.base.node == node {
            session.base.place = place
            session.base.hash = hash
        }
        for (number, old) in oldNodes[node.item.rawValue] ?? [:] where old.content.node == node {
            oldNodes[node.item.rawValue]?[number]?.content.place = place
            oldNodes[node.item.rawValue]?[number]?.content.hash = hash
        }
        if index[item: position].pointee.node == node {
            index[item: position].pointee.place = place
            index[item: position].pointee.hash = hash
        }
    }

    /// Keeps the current content reachable under its node when another one takes its place.
    func retireCurrent(_ position: MemoryIndex.Position) {
        let record = index[item: position]
        guard record.pointee.lookups > 0 else { return noteFormerNodes(position) }
        let old = OldNode(
            content: content(position), modified: record.pointee.modified,
            blocks: Int64(record.pointee.blocks) * 8, lookups: record.pointee.lookups)
        keepOldNode(record.pointee.node, old, at: position)
        record.pointee.lookups = 0
        noteFormerNodes(position)
    }
}
