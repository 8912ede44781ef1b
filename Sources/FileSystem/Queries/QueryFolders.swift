internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// A name that came or went in the folder of a saved query.
struct QueryLink: Sendable {
    var query: String
    var name: String
    /// What it leads to, or led to.
    var node: VirtualNode
    var isGone: Bool

    /// Below the root.
    var path: [UInt8] { Array("\(Self.folder(query))/\(name)".utf8) }

    static func folder(_ query: String) -> String { ".shapeedit/queries/\(query)" }
}

/// Tells those who watch the folder of a saved query what comes and goes in it, by repeating it on the
/// mount (``Replayer``).
///
/// Any thread. The thread `queries` is there while the kernel knows such a folder: only then can
/// somebody watch it. It waits for nobody but the volume's lock.
final class QueryWatch: Sendable {
    /// Changes gather until nothing has happened for so long, in milliseconds ...
    private static let quiet: UInt64 = 100
    /// ... but no longer than this.
    private static let patience: UInt64 = 1_000
    /// A folder in which more has changed at once is told of as a whole.
    private static let most = 500
    /// How often it is looked whether the folders are still known, in milliseconds.
    private static let pace: UInt64 = 10_000

    /// Looking takes at most this part of the thread's time, so that a large container with many
    /// changes does nothing else.
    private static let share: UInt64 = 20

    private struct State {
        /// Folders that were looked up, and whose names are not known yet.
        var fresh: Set<String> = []
        /// Folders whose names are known.
        var watched: Set<String> = []
        /// Something has changed: when first and last, as `MonotonicClock` has it.
        var isStirred = false
        var first: UInt64 = 0
        var last: UInt64 = 0
        /// Nothing is looked for before this moment.
        var notBefore: UInt64 = 0
        var isRunning = false
        var ended = false

        /// When changes are to be looked at.
        var moment: UInt64 {
            if !isStirred { return .max }
            return max(
                notBefore, min(last + quiet * 1_000_000, first + patience * 1_000_000))
        }
    }
    private let state = Monitor(State())
    private unowned let volume: Volume
    private unowned let tree: VirtualTree

    init(_ volume: Volume, _ tree: VirtualTree) {
        self.volume = volume
        self.tree = tree
    }

    /// A folder was looked up.
    func begin(_ query: String) {
        let (isNew, starts) = state.withLock { state -> (Bool, Bool) in
            if state.ended || state.watched.contains(query) { return (false, false) }
            defer { state.isRunning = true }
            return (state.fresh.insert(query).inserted, !state.isRunning)
        }
        if starts {
            Threads.start("queries", yielding: true) { [self] in run() }
        } else if isNew {
            state.signal { _ in }
        }
    }

    /// Results may be others. Also with the journal's lock held.
    func stir() {
        let now = MonotonicClock.now
        let isFirst = state.withLock { state -> Bool in
            state.last = now
            if state.isStirred || !state.isRunning { return false }
            (state.isStirred, state.first) = (true, now)
            return true
        }
        if isFirst { state.signal { _ in } }
    }

    /// Returns when the thread is gone.
    func stop() {
        state.signal { $0.ended = true }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.isRunning ? nil : true
        }
    }

    // MARK: The thread

    private func run() {
        let feed = volume.log.feed
        let subscription = feed.subscribe(after: nil) { [self] in stir() }
        var told: [String: [String: VirtualNode]] = [:]
        while let (fresh, isDue) = next() {
            for name in fresh { told[name] = links(name) }
            let known = tree.knownQueries()
            told = told.filter { known.contains($0.key) || fresh.contains($0.key) }
            if isDue {
                let start = MonotonicClock.now
                for (name, before) in told {
                    guard let now = links(name) else { continue }
                    tell(name, from: before, to: now)
                    told[name] = now
                }
                let end = MonotonicClock.now
                state.withLock { $0.notBefore = end + (end - start) * Self.share }
            }
            if hasEnded(with: Set(told.keys)) { break }
        }
        feed.cancel(subscription)
    }

    private func links(_ query: String) -> [String: VirtualNode]? {
        guard let folder = try? tree.results(of: query) else { return nil }
        return Dictionary(folder.links) { first, _ in first }
    }

    /// Waits until there is something to look at: folders that are new, and whether others may have
    /// changed; nil at the end.
    private func next() -> (fresh: Set<String>, isDue: Bool)? {
        let end = MonotonicClock.after(milliseconds: Self.pace)
        while true {
            let moment = state.withLock { $0.moment }
            let found = state.wait(until: min(moment, end)) { state -> Bool? in
                let isEarlier = state.moment < moment && moment == .max
                return state.ended || !state.fresh.isEmpty || isEarlier ? true : nil
            }
            let now = MonotonicClock.now
            let isReady = state.withLock { state in
                state.ended || !state.fresh.isEmpty || now >= state.moment
            }
            if isReady || found == nil && now >= end { break }
        }
        return state.signal { state in
            if state.ended {
                state.isRunning = false
                return nil
            }
            let isDue = MonotonicClock.now >= state.moment
            if isDue { state.isStirred = false }
            defer { state.fresh = [] }
            return (state.fresh, isDue)
        }
    }

    /// Whether there is nobody to tell any more: then the thread is as good as gone.
    private func hasEnded(with watched: Set<String>) -> Bool {
        state.signal { state in
            state.watched = watched
            if !watched.isEmpty || !state.fresh.isEmpty { return false }
            state.isRunning = false
            return true
        }
    }

    private func tell(
        _ query: String, from before: [String: VirtualNode], to now: [String: VirtualNode]
    ) {
        let gone = before.filter { now[$0.key] != $0.value }
        let came = now.filter { before[$0.key] != $0.value }
        if gone.isEmpty, came.isEmpty { return }
        guard gone.count + came.count <= Self.most else {
            volume.replayer?.add(path: Array(QueryLink.folder(query).utf8))
            return
        }
        volume.replayer?.add(
            gone.map { QueryLink(query: query, name: $0.key, node: $0.value, isGone: true) }
                + came.map { QueryLink(query: query, name: $0.key, node: $0.value, isGone: false) })
    }
}

extension VirtualTree {
    /// The saved queries whose folders the kernel knows.
    func knownQueries() -> Set<String> {
        state.withLock { state in
            Set(
                state.numbers.keys.compactMap { node in
                    if case .query(let name) = node { name } else { nil }
                })
        }
    }
}
