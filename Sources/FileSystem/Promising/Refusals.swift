internal import Model
internal import Promises
internal import SystemCalls

/// Reads that were told a moment ago that their bytes do not come.
///
/// The kernel asks again at once for a page that it could not read ahead, after a page fault even
/// twice; and it sends the reads of others who wait for that page only then. All have waited
/// already, and each would wait as long again. So for a moment whoever had the file open by then is
/// told the same. Who opens it anew tries again. Any thread.
final class Refusals: Sendable {
    private struct Refusal {
        var error: Errno
        /// Bytes of the content.
        var ranges: [Range<Int64>]
        /// The number of the handle that was opened last when it was told.
        var newest: UInt32
        /// From when on it is tried again, of ``MonotonicClock``; each read puts it off.
        var end: UInt64
        /// But not later than this.
        var limit: UInt64
    }
    private let known = Lock<[NodeNumber: Refusal]>([:])

    /// In nanoseconds.
    private static let moment: UInt64 = 1_000_000_000
    /// As long as many who wait for one page need to be told one after the other.
    private static let longest: UInt64 = 5_000_000_000
    /// With so many nodes those that are over are looked for.
    private static let most = 256
    /// A read of a page waits for the content of its whole block.
    private static let block = BlockDigests.blockSize

    /// All of a content, however large.
    static let all: Range<Int64> = 0..<((Int64.max / block - 1) * block)

    /// Notes that bytes of a node's content do not come; before anybody is told.
    ///
    /// - Parameter newest: the number of the handle that was opened last.
    func note(_ error: Errno, for node: NodeNumber, _ range: Range<Int64>, newest: UInt32) {
        let now = MonotonicClock.now
        let range = range.clamped(to: Self.all)
        let end = (range.upperBound + Self.block - 1) / Self.block * Self.block
        let blocks = range.lowerBound / Self.block * Self.block..<end
        known.withLock { known in
            if known.count >= Self.most { known = known.filter { $0.value.end > now } }
            var ranges = known[node].flatMap { $0.end > now ? $0.ranges : nil } ?? []
            if !ranges.contains(where: { blocks.clamped(to: $0) == blocks }) {
                ranges.append(blocks)
            }
            known[node] = Refusal(
                error: error, ranges: ranges, newest: newest, end: now + Self.moment,
                limit: now + Self.longest)
        }
    }

    /// What a read of these bytes is to be told without waiting; `nil` if it is to be tried.
    func error(for node: NodeNumber, _ range: Range<Int64>, by handle: Handle) -> Errno? {
        known.withLock { known -> Errno? in
            guard !known.isEmpty, var refusal = known[node] else { return nil }
            let now = MonotonicClock.now
            // Of numbers that may have begun anew.
            let isNew = Int32(bitPattern: handle.serial &- refusal.newest) > 0
            guard refusal.end > now, !isNew,
                refusal.ranges.contains(where: { $0.overlaps(range) })
            else { return nil }
            refusal.end = min(now + Self.moment, refusal.limit)
            known[node] = refusal
            return refusal.error
        }
    }
}

extension Volume {
    /// Remembers what who waited for bytes of a node is about to be told, if others have waited as
    /// long or nobody is to wait any more.
    func refuse(_ problem: ContentProblem, for node: NodeNumber, _ range: Range<Int64>) {
        guard problem.isPatienceOver || problem.isCancelled else { return }
        let newest = state.withLock { $0.serial }
        refusals.note(
            problem.told, for: node, problem.isCancelled ? Refusals.all : range, newest: newest)
    }
}
