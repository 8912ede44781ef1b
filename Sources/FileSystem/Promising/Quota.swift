internal import Model
internal import PathText
internal import SystemCalls

/// How much the local contents of a container with a store may take.
package struct Quota: Sendable {
    /// Bytes of all current versions that are here; `nil` for no bound.
    package var bytes: UInt64?
    /// Bytes of the disk that are to stay free; `nil` for none.
    package var free: UInt64?

    package init(bytes: UInt64? = nil, free: UInt64? = nil) {
        self.bytes = bytes
        self.free = free
    }

    package var isLimited: Bool { bytes != nil || free != nil }
}

/// What is known of how the quota is kept. Guarded by the volume's lock.
struct QuotaState {
    /// Bytes of current versions here when they were counted last, and of those that came since.
    var localBytes: UInt64 = 0
    /// Bytes too many that could not be let go; 0 if there are none.
    var excess: UInt64 = 0
    /// Why they could not, for people; `nil` if there are none.
    private(set) var problem: String?
    /// Whether they are those that the disk lacks.
    private var isOfDisk = false
    /// Since when there have been such bytes without a break, of ``MonotonicClock``.
    private var begun: UInt64 = 0
    private var isTold = false
    /// When it was looked last, of ``MonotonicClock``.
    private var looked: UInt64 = 0
    /// How long after that it is looked again without a cause, in nanoseconds.
    private var wait = Self.firstWait
    /// Something was taken or became free to go since it was looked last.
    var isDue = true
    /// When items were opened last in this mount: access times are not written that often.
    private(set) var opened: [ItemNumber: Timestamp] = [:]
    /// So many are remembered; after that their access times have to do.
    private static let mostOpened = 200_000

    /// The clock stands still for some milliseconds; what is opened later is later all the same.
    private var last = Timestamp(rawValue: 0)

    mutating func noteOpen(_ item: ItemNumber, at time: Timestamp) {
        last = max(time, last.successor)
        if opened.count >= Self.mostOpened { opened.removeAll(keepingCapacity: true) }
        opened[item] = last
    }

    /// Whether it is to be looked now. As long as there is too much that is done now and then, as not all is
    /// noticed that lets something go; less and less often, as each time all documents are looked at.
    ///
    /// - Parameter lacking: whether the disk has too little room.
    mutating func takeDue(lacking: Bool) -> Bool {
        let now = MonotonicClock.now
        if isDue || (excess > 0 ? isOfDisk && !lacking : lacking) {
            wait = Self.firstWait
        } else if excess > 0, now - looked > wait {
            wait = min(2 * wait, Self.longestWait)
        } else {
            return false
        }
        looked = now
        isDue = false
        return true
    }

    mutating func note(_ excess: Excess?) {
        self.excess = excess?.bytes ?? 0
        isOfDisk = excess?.isOfDisk ?? false
        if problem == nil { begun = MonotonicClock.now }
        problem = excess?.description
        if problem == nil { isTold = false }
    }

    /// What is to be told in the log now: each trouble once, and none that is soon over, as contents on their
    /// way to the store are.
    mutating func takeLine() -> String? {
        guard let problem, !isTold, MonotonicClock.now - begun > Self.patience else { return nil }
        isTold = true
        return problem
    }

    /// In nanoseconds.
    private static let firstWait: UInt64 = 5_000_000_000
    private static let longestWait: UInt64 = 300_000_000_000
    private static let patience: UInt64 = 10_000_000_000
}

/// What is here beyond the quota and cannot go.
struct Excess: CustomStringConvertible {
    var bytes: UInt64
    /// Whether it is the disk that has too little room.
    var isOfDisk: Bool
    /// Bytes of what has to stay, and why.
    var reasons: [Reason]

    typealias Reason = (bytes: UInt64, why: String)

    var description: String {
        let size = Count.size(bytes)
        let whole = size + (isOfDisk ? " less free than to be kept free" : " more than the quota")
        let parts = reasons.filter { $0.bytes > 0 }.map { "\(Count.size($0.bytes)) \($0.why)" }
        // Beyond the quota there is always something that is here.
        if parts.isEmpty { return whole + ": the disk is full of other things" }
        return whole + ", and what is here cannot go: " + parts.joined(separator: ", ")
    }
}
