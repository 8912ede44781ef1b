package import Model

/// Which documents were opened by people lately. Pure; opens are noted in the order of their times.
///
/// A program that goes through documents by itself (an indexer, a backup, a thumbnailer, `grep -r`)
/// opens more of them in a short while than anybody does by hand: what it opened does not count, and
/// neither does what it opens before it has rested. An open counts at once and is *settled* when it is
/// too old to turn out as part of such a sweep.
package struct RecentOpens: Sendable {
    /// Documents that are remembered.
    package static let limit = 100

    /// So many documents in so many seconds are a sweep.
    struct Sweep {
        var documents: Int
        var seconds: Double
    }
    /// Of one process.
    static let sweepsOfProcess = [
        Sweep(documents: 4, seconds: 1), Sweep(documents: 9, seconds: 10),
    ]
    /// Of all together: a shell that starts a program for each.
    static let sweepsOfAll = [
        Sweep(documents: 8, seconds: 1), Sweep(documents: 20, seconds: 10),
    ]
    /// An open is settled after this; a sweeping process counts again when it has rested so long.
    static let window: Double = 10

    private struct Open {
        var document: DocumentID
        var process: Int32
        var time: Timestamp
    }

    /// Opens that are kept to be judged.
    private static let freshLimit = 512

    private var settled: [DocumentID: Timestamp]
    /// Opens of the last ``window``, the last of each document by each process, in order.
    private var fresh: [Open] = []
    /// Processes that sweep, with their last open.
    private var sweepers: [Int32: Timestamp] = [:]
    /// The last sweep of many processes.
    private var sweep: ClosedRange<Timestamp>?

    /// - Parameter settled: what was remembered before.
    package init(_ settled: [DocumentID: Timestamp] = [:]) { self.settled = settled }

    /// A process opened a document.
    package mutating func note(_ document: DocumentID, by process: Int32, at time: Timestamp) {
        if sweepers[process] != nil {
            sweepers[process] = time
            return
        }
        if let sweep, abs(time.secondsSince(sweep.upperBound)) < 1 {
            self.sweep = sweep.lowerBound...max(sweep.upperBound, time)
            return
        }
        fresh.removeAll { $0.document == document && $0.process == process }
        fresh.append(Open(document: document, process: process, time: time))
        if fresh.count > Self.freshLimit { fresh.removeFirst() }
        if beginning(of: Self.sweepsOfProcess, at: time, by: process) != nil {
            sweepers[process] = time
        } else if let first = beginning(of: Self.sweepsOfAll, at: time, by: nil) {
            sweep = min(first, time)...time
        }
    }

    /// When the sweep began that is there at `time`; `nil` if there is none.
    private func beginning(of sweeps: [Sweep], at time: Timestamp, by process: Int32?) -> Timestamp?
    {
        for sweep in sweeps {
            var documents: Set<DocumentID> = []
            for open in fresh.reversed() {
                if time.secondsSince(open.time) >= sweep.seconds { break }
                // What one process sweeps says nothing about the others.
                if process.map({ $0 != open.process }) ?? (sweepers[open.process] != nil) {
                    continue
                }
                documents.insert(open.document)
                if documents.count >= sweep.documents { return open.time }
            }
        }
        return nil
    }

    /// What of the fresh opens counts, as far as is known.
    private var counting: [Open] {
        fresh.filter { open in
            if sweepers[open.process] != nil { return false }
            return sweep?.contains(open.time) != true
        }
    }

    /// Settles what is old enough; what has to be recorded: moments of documents that count, and
    /// documents that are too many.
    package mutating func settle(
        now: Timestamp
    ) -> (kept: [DocumentID: Timestamp], dropped: [DocumentID]) {
        // What is of before a clock was set back is as old as what it comes after by so much.
        let isOld = { (time: Timestamp) in abs(now.secondsSince(time)) >= Self.window }
        var kept: [DocumentID: Timestamp] = [:]
        for open in counting where isOld(open.time) {
            if settled[open.document].map({ $0 < open.time }) ?? true {
                settled[open.document] = open.time
                kept[open.document] = open.time
            }
        }
        fresh.removeAll { isOld($0.time) }
        sweepers = sweepers.filter { !isOld($0.value) }
        if let last = sweep?.upperBound, isOld(last) { sweep = nil }
        let surplus = settled.sorted { $0.value > $1.value }.dropFirst(Self.limit).map(\.key)
        for document in surplus {
            settled[document] = nil
            kept[document] = nil
        }
        return (kept, surplus)
    }

    /// Whether nothing waits to be settled.
    package var isSettled: Bool { fresh.isEmpty && sweepers.isEmpty }

    /// Settles all that counts by now, however fresh: the mount goes away.
    package mutating func settleAll() -> (kept: [DocumentID: Timestamp], dropped: [DocumentID]) {
        guard let last = fresh.last?.time else { return ([:], []) }
        return settle(
            now: Timestamp(
                seconds: last.seconds + Int64(Self.window) + 1, nanoseconds: last.nanoseconds))
    }

    /// The documents whose opens are settled.
    package var settledOpens: [DocumentID: Timestamp] { settled }

    /// Another program says that a document was opened; whether that is news, and has to be recorded.
    package mutating func adopt(_ document: DocumentID, at time: Timestamp) -> Bool {
        if let known = settled[document] {
            // Whoever says it may leave out parts of a second.
            guard time.secondsSince(known) >= 1 else { return false }
        } else if settled.count >= Self.limit, settled.values.allSatisfy({ time <= $0 }) {
            return false
        }
        settled[document] = time
        return true
    }

    /// The documents, the last opened first, at most ``limit``.
    package var list: [(document: DocumentID, opened: Timestamp)] {
        var all = settled
        for open in counting {
            all[open.document] = max(all[open.document] ?? open.time, open.time)
        }
        return all.sorted { ($0.value, $0.key.rawValue) > ($1.value, $1.key.rawValue) }
            .prefix(Self.limit).map { ($0.key, $0.value) }
    }

    /// The document is gone, or is not to be remembered; says whether it was recorded.
    @discardableResult
    package mutating func remove(_ document: DocumentID) -> Bool {
        fresh.removeAll { $0.document == document }
        return settled.removeValue(forKey: document) != nil
    }
}
