internal import Model

/// By how many each version is used just now. Guarded by its owner.
struct UseCounts {
    private var counts: [NodeNumber: Int] = [:]

    func contains(_ node: NodeNumber) -> Bool { counts[node] != nil }

    mutating func add(_ node: NodeNumber) { counts[node, default: 0] += 1 }

    /// One user of those that were added is done.
    mutating func remove(_ node: NodeNumber) {
        let left = (counts[node] ?? 1) - 1
        counts[node] = left > 0 ? left : nil
    }
}
