internal import Catalog
internal import Model

/// Nodes that stand in for that of a current version by which somebody writes.
///
/// What is written by a direct handle beyond the version's end makes the node longer for the kernel, which has then
/// zeros for who reads the version through its cache. So whoever looks the item up from then on comes to the
/// version by another node, until another version is current or the kernel has forgotten the first one. Guarded
/// by the volume's lock.
extension VolumeState {
    /// A direct handle is given for the node: lookups are answered with another one.
    func replaceInLookups(_ node: NodeNumber, at position: MemoryIndex.Position) {
        let record = index[item: position]
        let current = record.pointee.node.rawValue
        let isShown = (standIns[current] ?? record.pointee.node) == node
        guard isShown, record.pointee.isRegular else { return }
        standIns[current] = NodeNumber(number(position), record.pointee.takeOrdinal())
    }

    /// The node by which an item is looked up by who does not write it. To be counted.
    func shownNode(_ position: MemoryIndex.Position) -> NodeNumber {
        let node = index[item: position].pointee.node
        guard !standIns.isEmpty, let other = standIns[node.rawValue] else { return node }
        if oldNode(other) == nil {
            keepOldNode(other, retired(position, lookups: 0), at: position)
        }
        return other
    }

    /// Whether the item's own node is not to be told to who looks it up.
    func isReplacedInLookups(_ position: MemoryIndex.Position) -> Bool {
        !standIns.isEmpty && standIns[index[item: position].pointee.node.rawValue] != nil
    }
}
