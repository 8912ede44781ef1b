internal import Model
internal import SystemCalls

/// What pins ask for and has not been seen to yet. Guarded by the volume's lock.
struct PinState {
    /// The first wait for a store that fails, and the longest, in milliseconds.
    private static let firstWait: UInt64 = 5_000
    private static let longestWait: UInt64 = 300_000

    /// Anything has a pin, or had.
    var isInUse = false
    /// Documents and folders that have come to where another pin holds, or may have.
    var moved: Set<ItemNumber> = []
    /// Documents that are to stay here and did not come, for a reason that may pass.
    private var missing: Set<NodeNumber> = []
    /// When they are asked for again, of ``MonotonicClock``; 0: at once.
    private var retryAt: UInt64 = 0
    private var wait = firstWait
    /// Those that were asked for last, and from when on, of ``MonotonicClock``, all may be asked for once more:
    /// what is refused for good is not asked for with each of the others that come.
    private var asked: Set<NodeNumber> = []
    private var allAt: UInt64 = 0
    private var allWait = firstWait

    /// The store, or a source, gave nothing.
    mutating func didNotCome(_ node: NodeNumber) {
        missing.insert(node)
        retryAt = max(retryAt, MonotonicClock.after(milliseconds: wait))
    }

    /// Something has come: what is missing may come as well.
    mutating func hasCome(_ nodes: some Sequence<NodeNumber>) {
        retryAt = 0
        wait = Self.firstWait
        if nodes.contains(where: asked.contains) { (allAt, allWait) = (0, Self.firstWait) }
    }

    mutating func takeMoved() -> Set<ItemNumber> {
        defer { moved = [] }
        return moved
    }

    /// What is to be asked for again: all, or the one that shows whether there is anything to be had.
    ///
    /// - Parameter isWanted: whether it is to stay here still, and missing.
    mutating func takeMissing(
        at now: UInt64 = MonotonicClock.now, _ isWanted: (NodeNumber) -> Bool
    ) -> Set<NodeNumber> {
        if retryAt == 0 {
            if missing.isEmpty || now < allAt { return [] }
            asked = missing.filter(isWanted)
            missing = []
            if asked.isEmpty { return [] }
            allAt = now + allWait * 1_000_000
            allWait = min(allWait * 2, Self.longestWait)
            return asked
        }
        guard retryAt <= now else { return [] }
        while let next = missing.popFirst() {
            guard isWanted(next) else { continue }
            wait = min(wait * 2, Self.longestWait)
            retryAt = now + wait * 1_000_000
            asked = [next]
            return asked
        }
        return []
    }
}
