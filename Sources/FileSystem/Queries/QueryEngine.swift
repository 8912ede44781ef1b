internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// The live queries and what has changed since they were told. Guarded by ``LiveQueries``.
struct QueryEngine {
    private final class Live {
        let id: LiveQueryID
        let follower: any QueryFollower
        var query: LiveQuery
        /// Those of its results that are documents of other containers.
        var granted: [Found]
        /// Other results of items, not in the query's yet.
        var changes: [(item: ItemNumber, results: [Found])] = []

        var count: Int { query.results.everything.count }

        init(
            _ id: LiveQueryID, _ follower: any QueryFollower, _ query: LiveQuery,
            _ granted: [Found]
        ) {
            (self.id, self.follower, self.query) = (id, follower, query)
            self.granted = granted
        }
    }
    /// Items, or names of a folder, that are looked at under one hold of the volume's lock.
    private static let step = 256

    /// Results of all queries, at most.
    var mostResults = LiveQueries.mostResults
    /// A query has more results than when they were last counted: a thousand of them take a while.
    private var hasGrown = false
    private var live: [Live] = []
    /// There while there are queries.
    private var subscription: ChangeFeed.Subscription?
    /// Items that have changed.
    private var dirty: Set<ItemNumber> = []
    /// What has come and was looked at, of what is not recorded yet.
    private var arrived: Set<NodeNumber> = []
    /// Items that were renamed: what is below them has other paths.
    private var renamed: Set<ItemNumber> = []
    /// Changes were lost: everything is to be looked at.
    private var isLost = false
    /// The words that the results follow from (`TextIndexer.round`).
    private var words: UInt64 = 0
    /// The answers of other containers that they follow from (`GrantedResults.round`).
    private var answers: UInt64 = 0
    private unowned let volume: Volume

    init(_ volume: Volume) { self.volume = volume }

    // MARK: Queries come and go

    /// Gathers a query and tells its results; false if it could not begin, which is told too.
    mutating func begin(_ order: LiveQueries.Order, wake: @escaping @Sendable () -> Void) -> Bool {
        if live.isEmpty {
            // What changes while it is gathered is looked at again.
            subscription = subscription ?? volume.log.feed.subscribe(after: nil, wake: wake)
            words = volume.texts?.round ?? 0
        }
        let gathered: Gathered
        do throws(Errno) { gathered = try volume.gather(order.query) } catch {
            guard error.code == ENOENT, order.isLenient else {
                order.follower.take(.ended(error))
                unsubscribe()
                return false
            }
            gathered = Gathered()
        }
        guard kept + gathered.found.count <= mostResults else {
            order.follower.take(.ended(Errno(ENOSPC)))
            unsubscribe()
            return false
        }
        let query = LiveQuery(order.query, gathered.knowledge, gathered.found)
        live.append(Live(order.id, order.follower, query, gathered.granted))
        flush()
        order.follower.take(.gathered(Array(query.results.shown), problem: gathered.problem))
        return true
    }

    mutating func end(_ ids: Set<LiveQueryID>) {
        if ids.isEmpty { return }
        live.removeAll { ids.contains($0.id) }
        unsubscribe()
    }

    /// Ends the largest queries until all have no more results than they may, and says which.
    mutating func endLargest() -> [LiveQueryID] {
        guard hasGrown else { return [] }
        hasGrown = false
        var ended: [LiveQueryID] = []
        var kept = kept
        while kept > mostResults,
            let place = live.indices.max(by: { live[$0].count < live[$1].count })
        {
            let largest = live.remove(at: place)
            kept -= largest.count
            largest.follower.take(.ended(Errno(ENOSPC)))
            ended.append(largest.id)
        }
        unsubscribe()
        return ended
    }

    /// The results of all queries.
    private var kept: Int { live.reduce(0) { $0 + $1.count } }

    /// The mount goes away.
    mutating func endAll() {
        for live in live { live.follower.take(.ended(Errno(ENODEV))) }
        live = []
        unsubscribe()
    }

    private mutating func unsubscribe() {
        guard live.isEmpty, let subscription else { return }
        volume.log.feed.cancel(subscription)
        self.subscription = nil
        (dirty, renamed, isLost) = ([], [], false)
    }

    // MARK: Changes

    /// What is told is there after a crash. If the journal cannot be written, what was recorded
    /// last is not told.
    func flush() { try? volume.log.flush(upTo: volume.log.head) }

    /// Notes what has changed.
    mutating func collect() {
        guard let subscription else { return }
        while true {
            switch volume.log.feed.take(subscription, atMost: 1_024) {
            case .changes(let rows):
                if rows.isEmpty { return }
                for row in rows { note(row) }
            case .behind(_, let head):
                isLost = true
                volume.log.feed.skip(subscription, to: head)
            }
        }
    }

    private mutating func note(_ row: ChangeRow) {
        guard row.kind.concernsQueries else { return }
        if row.kind == .renamed { renamed.insert(row.item) }
        dirty.insert(row.item)
        dirty.formUnion(row.others)
    }

    /// Looks at what has changed, and tells the queries whose results are others. False if nothing
    /// has changed that concerns queries.
    mutating func tell() -> Bool {
        if live.isEmpty { return false }
        followWords()
        followGranted()
        followArrivals()
        spread()
        // Those of other containers are none of the volume's.
        let items = Array(dirty.filter { !GrantedResults.has($0) })
        dirty = []
        if items.isEmpty, live.allSatisfy({ $0.changes.isEmpty }) { return false }
        flush()
        for start in stride(from: 0, to: items.count, by: Self.step) {
            let part = items[start..<min(start + Self.step, items.count)]
            let views = volume.state.withLock { state in
                part.map { ItemView($0, state.index, arrived: state.arrived) }
            }
            for live in live { live.changes += live.query.changes(views) }
        }
        for live in live where !live.changes.isEmpty {
            let before = live.count
            let batch = live.query.update(live.changes)
            live.changes = []
            if live.count > before { hasGrown = true }
            if !batch.difference.isEmpty { live.follower.take(.changed(batch)) }
        }
        return true
    }

    /// What has come from the store is no promise from then on, and not only when it is on the disk, as the
    /// change says that tells of it.
    private mutating func followArrivals() {
        let now = volume.state.withLock { $0.arrived }
        for node in now.keys where !arrived.contains(node) { dirty.insert(node.item) }
        arrived = Set(now.keys)
    }

    /// Finds what else has changed with what was renamed or lost.
    private mutating func spread() {
        if isLost {
            for live in live { dirty.formUnion(live.query.results.items) }
            renamed.insert(.root)
        }
        var open = renamed.map { (folder: $0, cursor: UInt64(0)) }
        (renamed, isLost) = ([], false)
        var below: [ItemNumber] = []
        while !open.isEmpty {
            volume.state.withLock { state in
                Self.spread(&open, &below, state.index)
            }
            dirty.formUnion(below)
            below.removeAll(keepingCapacity: true)
        }
    }

    /// Looks at some names of folders.
    private static func spread(
        _ open: inout [(folder: ItemNumber, cursor: UInt64)], _ below: inout [ItemNumber],
        _ index: MemoryIndex
    ) {
        var left = step
        while left > 0, let (folder, cursor) = open.popLast() {
            left -= 1
            let position = index.find(folder)
            guard position != 0, index[item: position].pointee.isDirectory else { continue }
            var name = index.child(of: position, after: cursor)
            while name != 0 {
                let record = index[item: index[name: name].pointee.item]
                let item = ItemNumber(rawValue: record.pointee.number)
                below.append(item)
                left -= 1
                if left <= 0 { open.append((folder, index.cursor(name))) }
                if record.pointee.isDirectory { open.append((item, 0)) }
                if left <= 0 { break }
                name = index[name: name].pointee.next
            }
        }
    }

    // MARK: Documents of other containers

    /// Takes over what owners have answered.
    private mutating func followGranted() {
        guard let granted = volume.grantedResults, granted.round != answers else { return }
        answers = granted.round
        for live in live {
            let now = granted.found(live.query.query).found
            let items = Set(now.map(\.item))
            for gone in live.granted where !items.contains(gone.item) {
                live.changes.append((gone.item, []))
            }
            for found in now { live.changes.append((found.item, [found])) }
            live.granted = now
        }
    }

    // MARK: Words

    /// Documents whose words have been read again are looked at.
    private mutating func followWords() {
        guard let round = volume.texts?.round, round != words else { return }
        words = round
        for live in live where live.query.query.tellsTitles {
            // If it fails, the next round tries again.
            guard let (now, _) = try? volume.knowledge(live.query.query) else { continue }
            let before = live.query.knowledge.titles
            live.query.knowledge = now
            let gone = before.filter { now.titles[$0.key] != $0.value }
            for result in live.query.results.everything where gone[result.document] != nil {
                dirty.insert(result.item)
            }
            for (document, title) in now.titles where before[document] != title {
                let item = volume.state.withLock { state -> ItemNumber? in
                    let position = state.index.holder(of: document)
                    return position == 0 ? nil : state.number(position)
                }
                if let item { dirty.insert(item) }
            }
        }
    }
}

extension ChangeKind {
    /// Whether queries may find something else after a change of this kind.
    var concernsQueries: Bool {
        switch self {
        case .created, .removed, .renamed, .linked, .attributes, .extendedAttributes, .published,
            .repaired, .uploaded, .evicted, .materialized, .imported:
            true
        case .staged, .sealed, .pruned, .purged, .discarded, .accessed, .versionPinned, .conflicted,
            .bookmarked, .opened, .granted, .keptApart:
            false
        }
    }
}
