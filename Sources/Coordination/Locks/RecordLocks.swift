internal import Model

/// The byte-range locks held on one item.
///
/// Invariants: ranges of one owner never overlap, and those of one owner and kind do not touch
/// either; the locks are sorted by their first byte.
struct RecordLocks: Sendable {
    struct Held: Hashable, Sendable {
        var range: ClosedRange<Int64>
        var kind: LockKind
        var owner: UInt64
        var process: Int32
        var since: UInt64
    }

    private(set) var held: [Held] = []

    /// Whether `lock` is in the way of `request`.
    static func conflicts(_ lock: Held, _ request: LockRequest) -> Bool {
        lock.owner != request.owner
            && (lock.kind == .exclusive || request.kind == .exclusive)
            && lock.range.overlaps(request.range)
    }

    /// The conflicting lock that begins first.
    func conflict(with request: LockRequest) -> Held? {
        held.first { Self.conflicts($0, request) }
    }

    /// Gives `owner` the range with `kind`, or nothing there (`nil`), whatever it had there before:
    /// its locks are split, joined, upgraded and downgraded. Does not look at other owners.
    mutating func set(
        _ range: ClosedRange<Int64>, to kind: LockKind?, owner: UInt64, process: Int32,
        since: UInt64
    ) {
        var (joined, start) = (range, since)
        var result: [Held] = []
        result.reserveCapacity(held.count + 2)
        for lock in held {
            guard lock.owner == owner, Self.touch(lock.range, range) else {
                result.append(lock)
                continue
            }
            if lock.kind == kind {
                joined =
                    min(
                        joined.lowerBound, lock.range.lowerBound)...max(
                        joined.upperBound, lock.range.upperBound)
                start = min(start, lock.since)
                continue
            }
            // What lies outside stays as it was.
            if lock.range.lowerBound < range.lowerBound {
                var left = lock
                left.range =
                    lock.range.lowerBound...min(lock.range.upperBound, range.lowerBound - 1)
                result.append(left)
            }
            if lock.range.upperBound > range.upperBound {
                var right = lock
                right.range =
                    max(lock.range.lowerBound, range.upperBound + 1)...lock.range.upperBound
                result.append(right)
            }
        }
        if let kind {
            result.append(
                Held(range: joined, kind: kind, owner: owner, process: process, since: start))
        }
        result.sort { $0.range.lowerBound < $1.range.lowerBound }
        held = result
    }

    /// Overlap, or lie side by side without a byte between.
    private static func touch(_ one: ClosedRange<Int64>, _ other: ClosedRange<Int64>) -> Bool {
        if one.overlaps(other) { return true }
        let (first, second) = one.upperBound < other.lowerBound ? (one, other) : (other, one)
        return first.upperBound + 1 == second.lowerBound
    }
}
