internal import Glibc
internal import Model
internal import SystemCalls

/// Tells when owners may grant something else to this app, or something else is in it, as long as
/// anybody wants to know: watches their bells (``GrantBells``).
///
/// Any thread. The thread `granted` is there while there is somebody. It waits for no owner: bells
/// are looked for on threads of ``Forwarding``, of each owner one at a time.
final class OwnerWatch: Sendable {
    /// How often it is looked for mounts that came, and for bells whose ringing was missed, in
    /// milliseconds: the kernel may have forgotten the name of a bell when it rang.
    private static let pace: UInt64 = 10_000
    /// What is done at once comes together within so many microseconds.
    private static let gathering: UInt32 = 20_000

    private struct State {
        var users = 0
        var isRunning = false
        var hasEnded = false
        var inotify: Inotify?
        var changed: @Sendable (String) -> Void = { _ in }
        var bells = WatchedBells()
        /// Owners whose bells are being looked for; true if it rang in the meantime.
        var looking: [String: Bool] = [:]

        /// Those whose bells have rung, or whose mounts have gone.
        mutating func take(_ events: [Inotify.Event]) -> Set<String> {
            let gone = events.filter { $0.isAny(of: Int(IN_DELETE_SELF), Int(IN_UNMOUNT)) }
            let rung = bells.take(ended: gone.map(\.watch))
            if looking.isEmpty { bells.settle() }
            guard events.contains(where: \.tellsLoss) else { return rung }
            return rung.union(bells.watched).union(looking.keys)
        }
    }
    private let state = Lock(State())
    private let owners: GrantOwners
    private let forwarding: Forwarding

    init(_ owners: GrantOwners, _ forwarding: Forwarding) {
        self.owners = owners
        self.forwarding = forwarding
    }

    /// One more wants to know.
    ///
    /// - Parameter changed: called for owners at first, and whenever they may have changed, on
    ///   a thread that may wait for them. The same for all.
    func begin(_ changed: @escaping @Sendable (_ owner: String) -> Void) {
        let inotify = state.withLock { state -> Inotify? in
            state.users += 1
            state.changed = changed
            if state.isRunning || state.hasEnded { return nil }
            state.inotify = state.inotify ?? (try? Inotify())
            state.isRunning = state.inotify != nil
            return state.inotify
        }
        guard let inotify else { return }
        Threads.start("granted", yielding: true) { [self] in run(inotify) }
    }

    /// One less does.
    func end() { state.withLock { $0.users -= 1 } }

    /// Nobody is told any more.
    func stop() { state.withLock { $0.hasEnded = true } }

    /// Looks for the bell of an owner.
    ///
    /// - Parameter isRung: it may grant something else, whatever the bell is.
    func look(at owner: String, isRung: Bool) {
        let isFree = state.withLock { state -> Bool in
            if state.hasEnded || state.users == 0 { return false }
            if let rang = state.looking[owner] {
                state.looking[owner] = rang || isRung
                return false
            }
            state.looking[owner] = false
            return true
        }
        guard isFree else { return }
        forwarding.post(owner) { [self] in
            var isRung = isRung
            while true {
                // First the bell, then the question: what changes in between rings.
                if hang(owner) || isRung {
                    let changed = state.withLock { $0.changed }
                    changed(owner)
                }
                let goesOn = state.withLock { state -> Bool in
                    let rang = state.looking[owner] ?? false
                    state.looking[owner] = rang ? false : nil
                    if state.looking.isEmpty { state.bells.settle() }
                    return rang
                }
                if !goesOn { return }
                isRung = true
                usleep(Self.gathering)
            }
        }
    }

    /// Watches the bell of an owner; whether it is another one than before.
    private func hang(_ owner: String) -> Bool {
        guard let inotify = state.withLock({ $0.inotify }) else { return false }
        let bell = try? inotify.watch(try owners.bell(of: owner), Int(IN_DELETE_SELF))
        return state.withLock { state -> Bool in
            let hung = state.bells.hang(bell, of: owner)
            if let former = hung.former { inotify.forget(former) }
            if hung.hasRung { state.looking[owner] = true }
            return hung.isOther
        }
    }

    // MARK: The thread

    private func run(_ inotify: Inotify) {
        var next: UInt64 = 0
        while true {
            let now = MonotonicClock.now
            if now >= next {
                for owner in owners.others() { look(at: owner, isRung: false) }
                next = now + Self.pace * 1_000_000
            }
            var entry = pollfd(fd: inotify.number, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, Int32((next - now) / 1_000_000) + 1)
            usleep(Self.gathering)
            let events = inotify.take()
            let rung = state.withLock { state -> Set<String>? in
                if state.hasEnded || state.users == 0 {
                    state.isRunning = false
                    for bell in state.bells.end() { inotify.forget(bell) }
                    return nil
                }
                return state.take(events)
            }
            guard let rung else { return }
            for owner in rung { look(at: owner, isRung: true) }
        }
    }
}
