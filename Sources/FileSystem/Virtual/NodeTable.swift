internal import Glibc
internal import SystemCalls

/// The numbers of nodes that are no items of the catalog, from their first LOOKUP until the kernel
/// forgets them.
///
/// A value: the lock of whoever holds it guards it. A number is never given twice, not in a later mount
/// either: a file handle (name_to_handle_at(2)) of this one would lead to something else there.
struct NodeTable<Node: Hashable & Sendable>: Sendable {
    private struct Known {
        var node: Node
        var lookups: UInt64
    }
    private let bits: UInt64
    private var numbers: [Node: UInt64] = [:]
    private var known: [UInt64: Known] = [:]
    private var next: UInt64

    /// - Parameter bits: those that mark the numbers of this table; of the two highest.
    init(bits: UInt64) {
        self.bits = bits
        // Nobody looks a million names up in every millisecond of a mount.
        let (seconds, nanoseconds) = WallClock.now
        next = UInt64(max(seconds * 1000 + nanoseconds / 1_000_000, 1)) << 20 & (1 << 62 - 1)
    }

    /// The node of a number that the kernel knows; ESTALE for any other.
    func node(_ number: UInt64) throws(Errno) -> Node {
        guard let known = known[number] else { throw Errno(ESTALE) }
        return known.node
    }

    /// The number of a node that the kernel knows.
    func number(of node: Node) -> UInt64? { numbers[node] }

    /// All that the kernel knows.
    var nodes: some Collection<Node> { numbers.keys }

    /// A number that no node has.
    mutating func unused() -> UInt64 {
        defer { next += 1 }
        return next | bits
    }

    /// Counts a LOOKUP; the node's number.
    mutating func lookUp(_ node: Node) -> UInt64 {
        let number = numbers[node] ?? unused()
        numbers[node] = number
        known[number, default: Known(node: node, lookups: 0)].lookups += 1
        return number
    }

    /// FORGET; the node if the kernel does not know it any more.
    mutating func forget(_ number: UInt64, _ count: UInt64) -> Node? {
        guard var entry = known[number] else { return nil }
        entry.lookups -= min(count, entry.lookups)
        if entry.lookups > 0 {
            known[number] = entry
            return nil
        }
        known[number] = nil
        numbers[entry.node] = nil
        return entry.node
    }
}
