internal import Glibc
internal import Model
internal import SystemCalls

/// Changes of names as those see them who open documents and pictures by their paths: both change
/// at once. See the page Pictures.
extension Volume {
    /// How long a look at a picture waits for the kernel to change its name, in milliseconds.
    static let namePatience: UInt64 = 1_000
    /// How long the kernel is left alone with that, in nanoseconds. Mostly it is done by then and
    /// the directory's lock free, or its next request for the directory shows that it is done.
    private static let nameDelay: UInt64 = 300_000
    /// How long who is to be told of a change waits for the kernel to make it, in milliseconds: less than
    /// a request waits for claims with its directory locked.
    private static let tellingPatience: UInt64 = 30
    /// Nobody waits so while so many directories are waited for.
    private static let mostLooks = 16
    /// A name that is looked for in vain.
    private static let noName = Array(".shapeedit-none".utf8)

    /// Carries out a request of the kernel to change names, whose directories it has locked. The
    /// answer goes by ``refresh(_:changedIn:then:)``.
    ///
    /// - Parameter asksAgain: ERESTART is thrown if there are claims now. One that comes later waits until the
    ///   kernel has made the change.
    func changing<Result>(
        _ names: [(parent: NodeNumber, name: UnsafeRawBufferPointer)], asksAgain: Bool = false,
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let places = names.map { ReplayStep.Place(parent: $0.parent.item, name: Array($0.name)) }
        let waiting = try state.withLock { (state) throws(Errno) in
            try state.askAgain(asksAgain)
            return state.changingNames.begin(
                places.map { place -> (place: ReplayStep.Place, item: ItemNumber?) in
                    let position = state.item(at: place)
                    return (place, position == 0 ? nil : state.number(position))
                })
        }
        for look in waiting { look() }
        do throws(Errno) { return try body() } catch {
            answerChange(in: names.map(\.parent))
            throw error
        }
    }

    /// Tells the kernel what ``refresh(_:then:)`` does after names were changed in directories,
    /// then runs `reply`, which lets it make the change itself.
    func refresh(
        _ nodes: [NodeNumber], changedIn directories: [NodeNumber], by caller: Caller,
        then reply: @escaping @Sendable () -> Void
    ) {
        refresh(nodes) { [self] in
            outdate(
                state.withLock { state in
                    let now = MonotonicClock.now
                    state.changingNames.answer(in: directories.map(\.item), at: now)
                    return state.outdated(directories, by: caller, at: now)
                })
            reply()
        }
    }

    /// Has the kernel drop answers about directories that are on their way to others than the caller, who has
    /// changed names in them (``ToldFolders``).
    func outdateAttributes(of directories: [NodeNumber], by caller: Caller) {
        outdate(state.withLock { $0.outdated(directories, by: caller, at: MonotonicClock.now) })
    }

    /// Unlike other notifications these wait for nothing.
    private func outdate(_ directories: [NodeNumber]) {
        for directory in directories {
            channel?.invalidate(node: directory.rawValue, pages: false)
        }
    }

    /// From here on the kernel may have made the change, or asks for it once more.
    func answerChange(in directories: [NodeNumber]) {
        state.withLock { state in
            state.changingNames.answer(in: directories.map(\.item), at: MonotonicClock.now)
        }
    }

    /// A request to change names in these directories, which the kernel has locked for it, is about to wait
    /// for claims: nobody could find out by those locks what the kernel has made.
    func settleNames(in directories: [NodeNumber]) {
        let waiting = state.withLock { $0.changingNames.settle(in: directories.map(\.item)) }
        for look in waiting { look() }
    }

    /// Whether it is open to which of two items one of the names leads.
    func isUncertain(_ names: [[UInt8]], in directory: ItemNumber) -> Bool {
        state.withLock { state in
            names.contains { name in
                let place = ReplayStep.Place(parent: directory, name: name)
                return state.changingNames.sight(of: place) == .uncertain
            }
        }
    }

    /// Calls `then` when the kernel has made the last change of the names that was answered, or with
    /// `isBegun` that was asked for; at once if it has, and in any case after a while.
    func whenCertain(
        _ names: [[UInt8]], in directory: ItemNumber, isBegun: Bool = false,
        then: @escaping @Sendable () -> Void
    ) {
        let ticket = state.withLock {
            $0.changingNames.wait(for: names, in: directory, isBegun: isBegun, then: then)
        }
        guard let ticket else { return then() }
        guard ticket.isFirst else { return }
        let now = MonotonicClock.now
        scheduler.at(now + Self.nameDelay) { [weak self] in
            self?.witness(ticket.change, in: directory)
        }
        scheduler.at(now + Self.namePatience * 1_000_000) { [weak self] in
            guard let self else { return }
            let waiting = state.withLock { $0.changingNames.giveUp(ticket.change, in: directory) }
            for look in waiting { look() }
        }
    }

    /// Names that a node's file has lost, and that the kernel may still count.
    func uncountedNames(of node: NodeNumber, for caller: Caller) -> [ReplayStep.Place] {
        state.withLock {
            $0.changingNames.uncountedNames(
                of: node.item, for: caller.thread, at: MonotonicClock.now)
        }
    }

    /// Calls `then` when the kernel has made the changes of these names that were asked for before, or after
    /// a short while: who is told that nobody else changes them is not to find one changed by it.
    func whenMade(_ places: [ReplayStep.Place], then: @escaping @Sendable () -> Void) {
        if places.isEmpty { return then() }
        let left = Lock(places.count)
        let call = SingleCall(then)
        scheduler.at(MonotonicClock.after(milliseconds: Self.tellingPatience)) { call.make() }
        for place in places {
            whenCertain([place.name], in: place.parent, isBegun: true) {
                let isLast = left.withLock { left -> Bool in
                    left -= 1
                    return left == 0
                }
                if isLast { call.make() }
            }
        }
    }

    /// Returns when the kernel has made the changes of names in directories that were asked for before, or
    /// after a while: who is told of one and looks finds it made.
    ///
    /// For threads that no request waits for.
    func awaitNames(in directories: Set<ItemNumber>) {
        guard let channel, !directories.isEmpty else { return }
        let isDone = Monitor(false)
        let looks = nameWitness.look(besides: Self.mostLooks) {
            for directory in directories {
                channel.invalidateEntry(parent: directory.rawValue, name: Self.noName)
            }
            isDone.signal { $0 = true }
        }
        guard looks else { return }
        _ = isDone.wait(until: MonotonicClock.after(milliseconds: Self.tellingPatience)) {
            $0 ? true : nil
        }
    }

    /// Finds out when the kernel has made a change: to forget a name in the directory, even one
    /// that is not there, it waits for the directory's lock.
    private func witness(_ change: UInt64, in directory: ItemNumber) {
        guard state.withLock({ $0.changingNames.isAwaited(change, in: directory) }) else { return }
        nameWitness.look { [self] in
            channel?.invalidateEntry(parent: directory.rawValue, name: Self.noName)
            let waiting = state.withLock { $0.changingNames.settle(change, in: directory) }
            for look in waiting { look() }
        }
    }
}

extension VolumeState {
    /// Directories about which answers may be on their way to others than the caller.
    fileprivate func outdated(
        _ directories: [NodeNumber], by caller: Caller, at now: UInt64
    ) -> [NodeNumber] {
        directories.filter { toldFolders.isOnItsWay($0.item, but: caller.thread, at: now) }
    }
}

/// Waits for locks of directories, each on a thread of its own: who has one of them locked may wait
/// for somebody who waits for another.
final class NameWitness: Sendable {
    private struct State {
        var running = 0
        var ended = false
    }
    private let state = Monitor(State())

    /// Runs `body` on a thread; not after ``stop()``, and not beside more than `most` others.
    ///
    /// - Returns: whether it does.
    @discardableResult
    func look(besides most: Int = .max, _ body: @escaping @Sendable () -> Void) -> Bool {
        let starts = state.withLock { state -> Bool in
            if state.ended || state.running > most { return false }
            state.running += 1
            return true
        }
        guard starts else { return false }
        Threads.start("names") { [state] in
            body()
            state.signal { $0.running -= 1 }
        }
        return true
    }

    /// Returns when all threads are gone, or after 5 s.
    func stop() {
        state.signal { $0.ended = true }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.running == 0 ? true : nil
        }
    }
}
