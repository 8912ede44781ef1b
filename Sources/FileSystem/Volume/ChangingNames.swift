internal import Catalog
internal import Model
internal import SystemCalls

/// Names that the kernel has asked to be changed, until it is known to have made the change itself.
/// It does so some moments after the answer, and keeps the directory locked from before the request
/// until then; meanwhile it goes on leading whoever opens a name to where the name led before.
///
/// A value: the volume's lock guards it. What it gives back to be called is called without that.
struct ChangingNames: Sendable {
    /// What somebody finds who opens a name.
    enum Sight: Equatable {
        /// What the name leads to here.
        case present
        /// What it led to before, an item or nothing: the request is not answered yet.
        case former(ItemNumber?)
        /// One or the other.
        case uncertain
    }

    /// What one request changes in one directory.
    private struct Change {
        var serial: UInt64
        /// What the names led to.
        var former: [(name: [UInt8], item: ItemNumber?)] = []
        /// When the request was answered, of `MonotonicClock`; nil while it is not.
        var answered: UInt64?
        /// What one of the names was taken from that has others, and the thread that asked for it.
        var loser: (item: ItemNumber, thread: Int32)?
        /// Called when the kernel has made the change.
        var waiting: [@Sendable () -> Void] = []

        /// Whether the kernel is done with it for sure.
        func isOver(_ now: UInt64) -> Bool { answered.map { now >= $0 + lifetime } ?? false }
    }

    /// Directories that are remembered however long ago their last change was answered.
    private static let usualLimit = 1_024
    /// How long the others are, in nanoseconds: the kernel is done long before.
    private static let lifetime: UInt64 = 10_000_000_000

    private var changes: [ItemNumber: Change] = [:]
    /// The directories in whose changes an item is what a name led to.
    private var directories: [ItemNumber: Set<ItemNumber>] = [:]
    /// The changes by which something has lost a name.
    private var losers = 0
    private var serial: UInt64 = 0
    private var limit = usualLimit

    /// A request has come that changes names. The kernel has their directories locked for it, so it
    /// has made all changes in them that were answered before.
    ///
    /// - Parameter names: and what they lead to now.
    /// - Returns: what waited for those changes, to be called.
    mutating func begin(
        _ names: [(place: ReplayStep.Place, item: ItemNumber?)]
    ) -> [@Sendable () -> Void] {
        var waiting: [@Sendable () -> Void] = []
        for (place, _) in names {
            waiting += remove(place.parent)?.waiting ?? []
        }
        serial += 1
        let change = Change(serial: serial)
        for (place, item) in names {
            changes[place.parent, default: change].former.append((place.name, item))
            if let item { directories[item, default: []].insert(place.parent) }
        }
        return waiting
    }

    /// A request to change names in these directories has come and is to wait: as with ``begin(_:)`` the
    /// kernel has made what was answered before.
    ///
    /// - Returns: what waited for that, to be called.
    mutating func settle(in parents: [ItemNumber]) -> [@Sendable () -> Void] {
        parents.flatMap { parent -> [@Sendable () -> Void] in
            changes[parent]?.answered == nil ? [] : remove(parent)?.waiting ?? []
        }
    }

    private mutating func remove(_ directory: ItemNumber) -> Change? {
        guard let change = changes.removeValue(forKey: directory) else { return nil }
        if change.loser != nil { losers -= 1 }
        for case (_, let item?) in change.former {
            directories[item]?.remove(directory)
            if directories[item]?.isEmpty == true { directories[item] = nil }
        }
        return change
    }

    /// The request that changed names in these directories is about to be answered.
    mutating func answer(in directories: [ItemNumber], at now: UInt64) {
        for directory in directories { changes[directory]?.answered = now }
        guard changes.count > limit else { return }
        for (directory, change) in changes where change.isOver(now) && change.waiting.isEmpty {
            _ = remove(directory)
        }
        limit = max(Self.usualLimit, 2 * changes.count)
    }

    /// The request of a thread that is under way in the directory has taken a name from an item that has others.
    mutating func noteLoss(of item: ItemNumber, in directory: ItemNumber, _ thread: Int32) {
        guard let change = changes[directory], change.answered == nil, change.loser == nil else {
            return
        }
        changes[directory]?.loser = (item, thread)
        losers += 1
    }

    /// The names that the kernel is still to take from an item itself.
    ///
    /// It counts one less then than it was told last. Told of the lower number before, it came to none, and
    /// refused to link a file that is there (ENOENT).
    ///
    /// - Parameter isCertain: only those that it is sure to count still. Of a request that is answered nobody
    ///   knows: a number that is too high until it asks again does no harm.
    func losses(of item: ItemNumber, isCertain: Bool) -> Int {
        guard losers > 0, let directories = directories[item] else { return 0 }
        return directories.count { directory in
            guard let change = changes[directory], change.loser?.item == item else { return false }
            return change.answered == nil || !isCertain && !change.isOver(MonotonicClock.now)
        }
    }

    /// Names that an item has lost by requests that are answered, if the kernel may not have taken them away
    /// yet: it is unknown how many it counts. A thread that comes after its own request finds that made.
    func uncountedNames(of item: ItemNumber, for thread: Int32, at now: UInt64)
        -> [ReplayStep.Place]
    {
        if losers == 0 { return [] }
        return names(of: item, at: now) { change in
            change.answered != nil
                && change.loser.map { $0.item == item && $0.thread != thread } ?? false
        }
    }

    func sight(of place: ReplayStep.Place) -> Sight {
        guard let change = changes[place.parent],
            let former = change.former.first(where: { $0.name == place.name })
        else { return .present }
        return change.answered == nil ? .former(former.item) : .uncertain
    }

    /// The names in a directory that are not settled.
    func names(in directory: ItemNumber) -> [[UInt8]] {
        changes[directory]?.former.map(\.name) ?? []
    }

    /// Names that led to an item, and that do so for the kernel as long as it has not made the change.
    func names(of item: ItemNumber, at now: UInt64) -> [ReplayStep.Place] {
        names(of: item, at: now) { _ in true }
    }

    private func names(
        of item: ItemNumber, at now: UInt64, _ isMeant: (Change) -> Bool
    ) -> [ReplayStep.Place] {
        guard let directories = directories[item] else { return [] }
        return directories.flatMap { directory -> [ReplayStep.Place] in
            guard let change = changes[directory], !change.isOver(now), isMeant(change) else {
                return []
            }
            return change.former.filter { $0.item == item }.map {
                ReplayStep.Place(parent: directory, name: $0.name)
            }
        }
    }

    /// Has `then` called when the kernel has made the change of one of these names; nil if there is
    /// nothing to wait for.
    ///
    /// - Parameter isBegun: also of a change that is not answered yet.
    /// - Returns: the change, and whether it was not waited for before.
    mutating func wait(
        for names: [[UInt8]], in directory: ItemNumber, isBegun: Bool = false,
        then: @escaping @Sendable () -> Void
    ) -> (change: UInt64, isFirst: Bool)? {
        guard let change = changes[directory], isBegun || change.answered != nil,
            change.former.contains(where: { names.contains($0.name) })
        else { return nil }
        changes[directory]?.waiting.append(then)
        return (change.serial, change.waiting.isEmpty)
    }

    /// Whether somebody waits for the change.
    func isAwaited(_ change: UInt64, in directory: ItemNumber) -> Bool {
        guard let found = changes[directory] else { return false }
        return found.serial == change && !found.waiting.isEmpty
    }

    /// The kernel has made the change; what waited for it, to be called.
    mutating func settle(_ change: UInt64, in directory: ItemNumber) -> [@Sendable () -> Void] {
        guard changes[directory]?.serial == change else { return [] }
        return remove(directory)?.waiting ?? []
    }

    /// Nobody is to wait for the change any longer; who did, to be called.
    mutating func giveUp(_ change: UInt64, in directory: ItemNumber) -> [@Sendable () -> Void] {
        guard let found = changes[directory], found.serial == change else { return [] }
        changes[directory]?.waiting = []
        return found.waiting
    }
}

extension VolumeState {
    /// The item that a name leads to for whoever opens it by its path, as far as that is known, and
    /// else the one that it leads to here; 0 for none.
    func seen(_ place: ReplayStep.Place) -> (MemoryIndex.Position, ChangingNames.Sight) {
        let sight = changingNames.sight(of: place)
        guard case .former(let item) = sight else { return (self.item(at: place), sight) }
        return (item.map { index.find($0) } ?? 0, sight)
    }
}
