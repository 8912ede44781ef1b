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
        } else if isEcho(node) {
            echoes[node.item.rawValue]?.lookups.countLookup()
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

    private func echo(_ node: NodeNumber) -> EchoNode? {
        echoes[node.item.rawValue].flatMap { $0.ordinal == node.ordinal ? $0 : nil }
    }

    private func isEcho(_ node: NodeNumber) -> Bool { echo(node) != nil }

    /// What the current version's node would show as an old one.
    func retired(_ position: MemoryIndex.Position, lookups: UInt32) -> OldNode {
        let record = index[item: position]
        return OldNode(
            content: content(position), modified: record.pointee.modified,
            blocks: Int64(record.pointee.blocks) * 8, lookups: lookups)
    }

    func oldNode(_ node: NodeNumber) -> OldNode? {
        guard let echo = echo(node) else { return oldNodes[node.item.rawValue]?[node.rawValue] }
        let position = index.find(node.item)
        return position == 0 ? nil : retired(position, lookups: echo.lookups)
    }

    /// The former nodes of an item that the kernel knows, in no order.
    func oldNodes(of item: ItemNumber) -> [NodeNumber] {
        var nodes = oldNodes[item.rawValue]?.keys.map { NodeNumber(rawValue: $0) } ?? []
        if let echo = echoes[item.rawValue] {
            nodes.append(NodeNumber(item, echo.ordinal))
        }
        return nodes
    }

    func keepOldNode(_ node: NodeNumber, _ old: OldNode, at position: MemoryIndex.Position) {
        let item = node.item.rawValue
        index[item: position].pointee.flags.insert(.hasOldNodes)
        if oldNodes[item]?[node.rawValue] == nil, echoes[item] == nil || isEcho(node),
            old == retired(position, lookups: old.lookups)
        {
            echoes[item] = EchoNode(ordinal: node.ordinal, lookups: old.lookups)
            return
        }
        if isEcho(node) { echoes[item] = nil }
        oldNodes[item, default: [:]][node.rawValue] = old
    }

    func dropOldNode(_ node: NodeNumber, at position: MemoryIndex.Position) {
        let item = node.item.rawValue
        if isEcho(node) { echoes[item] = nil }
        oldNodes[item]?[node.rawValue] = nil
        if oldNodes[item]?.isEmpty == true { oldNodes[item] = nil }
        if oldNodes[item] == nil, echoes[item] == nil {
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
            nodes = oldNodes(of: ItemNumber(rawValue: record.pointee.number))
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

    /// Keeps the current content reachable under its nodes when another one takes its place.
    func retireCurrent(_ position: MemoryIndex.Position) {
        let record = index[item: position]
        if let echo = echoes.removeValue(forKey: record.pointee.number) {
            let node = NodeNumber(number(position), echo.ordinal)
            oldNodes[record.pointee.number, default: [:]][node.rawValue] =
                retired(position, lookups: echo.lookups)
        }
        if record.pointee.lookups > 0 {
            oldNodes[record.pointee.number, default: [:]][record.pointee.node.rawValue] =
                retired(position, lookups: record.pointee.lookups)
            record.pointee.flags.insert(.hasOldNodes)
            record.pointee.lookups = 0
        }
        standIns[record.pointee.node.rawValue] = nil
        noteFormerNodes(position)
    }
}
