internal import Catalog
internal import Model
internal import PathText
internal import SystemCalls

/// Steps that wait to be repeated: bounded, in order. Pure.
struct ReplayQueue: Sendable {
    /// More changes than these in a second are told by their directories only, and so is what does not
    /// fit into the queue.
    static let perSecond = 1_000
    private static let limit = 4_096

    enum Work: Sendable {
        case step(ReplayStep)
        /// The directory of changes that were too many.
        case directory(ItemNumber)
        /// What a path from the root names has changed: a picture.
        case path([UInt8])
        /// There is another saved query, or another name in the folder of one.
        case query(QueryEntry)
        /// What came by another node of an item.
        case node(NodeChange)
        /// Another container granted something else to the app whose mount this is.
        case granted(GrantedStep)
    }

    private var work: [Work] = []
    private var next = 0
    /// Directories that are in the queue by themselves.
    private var directories: Set<ItemNumber> = []
    /// Changes of nodes in the queue. One that waits is not told twice, and takes no room from steps: where many
    /// have earlier versions open, each save has all of their nodes told about.
    private var nodes: Set<NodeChange> = []
    /// Folders that the kernel gets, or got, to know by steps of the queue since it rested: what is in them was
    /// made before that, perhaps, and comes after it.
    private var made: Set<ItemNumber> = []
    /// Owners whose folders it gets, or got, to know so.
    private var granting: Set<String> = []
    private var windowBegan: UInt64 = 0
    private var count = 0

    var isEmpty: Bool { next == work.count }

    /// Adds what somebody may watch, at a moment of `MonotonicClock`; false if it is not told by its name.
    @discardableResult
    mutating func add(_ step: ReplayStep, now: UInt64) -> Bool {
        guard step.isWatchable || made.contains(step.place.parent) else { return false }
        guard hasRoom(now) else {
            for place in step.places { add(directory: place.parent) }
            return false
        }
        work.append(.step(step))
        if step.makesFolder {
            if made.count == Self.limit { made = [] }
            made.insert(step.node.item)
        }
        return true
    }

    mutating func add(path: [UInt8], now: UInt64) {
        if hasRoom(now) { work.append(.path(path)) }
    }

    mutating func add(query entry: QueryEntry, now: UInt64) {
        if hasRoom(now) { work.append(.query(entry)) }
    }

    /// - Parameter isWatchable: whether the kernel knows the owner's folder, and somebody may watch it.
    mutating func add(granted step: GrantedStep, isWatchable: Bool, now: UInt64) {
        let isFolder = step.document == nil
        guard isWatchable || isFolder || granting.contains(step.owner), hasRoom(now) else { return }
        work.append(.granted(step))
        if isFolder { granting.insert(step.owner) }
    }

    mutating func add(_ change: NodeChange) {
        guard nodes.count < Self.limit, nodes.insert(change).inserted else { return }
        work.append(.node(change))
    }

    private mutating func add(directory: ItemNumber) {
        guard directories.count < Self.limit, directories.insert(directory).inserted else { return }
        work.append(.directory(directory))
    }

    private mutating func hasRoom(_ now: UInt64) -> Bool {
        // Who took the moment before a lock may come after one with a later moment.
        if now > windowBegan + 1_000_000_000 {
            windowBegan = now
            count = 0
        }
        count += 1
        return count <= Self.perSecond && work.count - next - nodes.count < Self.limit
    }

    mutating func take() -> Work? {
        guard next < work.count else { return nil }
        let first = work[next]
        next += 1
        if case .directory(let item) = first { directories.remove(item) }
        if case .node(let change) = first { nodes.remove(change) }
        if next == work.count {
            work = []
            next = 0
        } else if next >= 1_024 {
            work.removeFirst(next)
            next = 0
        }
        return first
    }

    /// Nothing came for a while.
    mutating func rest() { (made, granting) = ([], []) }

    /// Whether a step that waits is to bring the item to the place.
    func brings(_ item: ItemNumber, to place: ReplayStep.Place) -> Bool {
        hasStep { step in
            guard step.node.item == item else { return false }
            switch step.kind {
            case .made: return step.place == place
            case .moved(let target): return target == place
            case .written, .removed: return false
            }
        }
    }

    /// Whether a step that waits is to take the item away from the place.
    func takes(_ item: ItemNumber, from place: ReplayStep.Place) -> Bool {
        hasStep { step in
            guard step.node.item == item, step.place == place else { return false }
            switch step.kind {
            case .removed, .moved: return true
            case .made, .written: return false
            }
        }
    }

    private func hasStep(_ isIt: (ReplayStep) -> Bool) -> Bool {
        work[next...].contains { if case .step(let step) = $0 { isIt(step) } else { false } }
    }

    /// Whether the folder of a saved query is still to be removed.
    func removes(query name: String) -> Bool {
        work[next...].contains { work in
            guard case .query(let entry) = work else { return false }
            return entry.isFolder && entry.isGone && PathKey(entry.name) == PathKey(name)
        }
    }

    /// The step that is still to remove a folder at that place.
    func removal(of place: ReplayStep.Place) -> ReplayStep? {
        for case .step(let step) in work[next...] {
            if case .removed = step.kind, step.place == place { return step }
        }
        return nil
    }
}
