internal import Model

/// Published versions that are not sealed yet, and when they are to be: each some seconds after its publish,
/// by when most of what is saved again has been, however busy the container is with other documents. What is
/// saved over and over has no version that is current for so long: after a minute all are due.
///
/// Pure; times are monotonic nanoseconds.
struct UnsealedVersions: Sendable {
    /// A version is due this long after its publish.
    private static let quiet: UInt64 = 4_000_000_000
    /// All are, this long after the first of them.
    private static let patience: UInt64 = 60_000_000_000
    /// More than this are sealed by one sync of the disk, which whoever writes meanwhile notices.
    static let many = 16
    /// So much longer than it took to seal many is the rest after it, unless all is quiet.
    private static let rest: UInt64 = 3
    /// At most so many are sealed together, and where the disk takes long for each entry as many as are moved
    /// in this time: who waits for room waits for that.
    private static let most = 512
    private static let goal: UInt64 = 500_000_000

    /// In the order of their publish.
    private var waiting: [(node: NodeNumber, published: UInt64)] = []
    private var due: [NodeNumber] = []
    /// Could not be sealed. Each may take a disk that fails a long time, so they are due with all others only.
    private var failed: [NodeNumber] = []
    /// The first publish since all were due.
    private var first: UInt64?
    /// While others are published, nothing becomes due one by one before this.
    private var rests: UInt64 = 0
    /// How many were sealed since there was nothing due, and how long that took.
    private var sealed: (count: Int, time: UInt64) = (0, 0)
    /// So many are sealed together. How long they take is not known at first.
    private var together = 32

    var count: Int { waiting.count + due.count + failed.count }
    var isEmpty: Bool { count == 0 }

    /// A version was published, or cannot be sealed yet and is tried again as if it had been.
    mutating func publish(_ node: NodeNumber, at now: UInt64) {
        waiting.append((node, now))
        if first == nil { first = now }
    }

    /// A version could not be sealed.
    mutating func fail(_ node: NodeNumber, at now: UInt64) {
        failed.append(node)
        if first == nil { first = now }
    }

    /// Finds out which are due.
    ///
    /// - Parameter all: they are, whenever they were published.
    /// - Returns: whether there are any.
    mutating func ripen(at now: UInt64, all: Bool) -> Bool {
        if all || first.map({ now > $0 + Self.patience }) == true {
            due += waiting.map(\.node) + failed
            waiting = []
            failed = []
        } else if now >= rests || waiting.last.map({ now > $0.published + Self.quiet }) == true {
            let ripe = waiting.prefix { now > $0.published + Self.quiet }
            due += ripe.map(\.node)
            waiting.removeFirst(ripe.count)
        }
        if waiting.isEmpty, failed.isEmpty { first = nil }
        return !due.isEmpty
    }

    /// Takes out the first that are due, as many as are to be sealed together.
    mutating func take() -> [NodeNumber] {
        let taken = Array(due.prefix(together))
        due.removeFirst(taken.count)
        return taken
    }

    /// Moving so many among the blobs took this long.
    mutating func measure(_ count: Int, time: UInt64) {
        // A few tell little, and say nothing of many.
        guard count > Self.many else { return }
        let fitting = UInt64(count) * Self.goal / max(time, 1)
        // Fewer would have a sync each, for which there is one for all.
        let next = min(fitting, UInt64(together * 2), UInt64(Self.most))
        together = max(Self.many + 1, Int(next))
    }

    /// Takes one out; says whether it was there.
    mutating func remove(_ node: NodeNumber) -> Bool {
        // It is likely to have come last.
        if let place = waiting.lastIndex(where: { $0.node == node }) {
            waiting.remove(at: place)
        } else if let place = due.firstIndex(of: node) {
            due.remove(at: place)
        } else if let place = failed.firstIndex(of: node) {
            failed.remove(at: place)
        } else {
            return false
        }
        return true
    }

    /// What was begun with these goes on as soon as possible.
    mutating func goOn(_ nodes: [NodeNumber]) { due += nodes }

    /// Sealing so many took from one moment to the other.
    mutating func seal(_ count: Int, from begin: UInt64, to end: UInt64) {
        sealed.count += count
        sealed.time += end - begin
        guard due.isEmpty else { return }
        if sealed.count > Self.many { rests = end + max(Self.quiet, Self.rest * sealed.time) }
        sealed = (0, 0)
    }
}
