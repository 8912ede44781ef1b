internal import Catalog
internal import Glibc
internal import Model
internal import PathText
internal import Synchronization
internal import SystemCalls
internal import Thumbnailing

/// Repeats changes that came otherwise than through the kernel as system calls on the mount, so that
/// inotify tells of them. See the page Presentation.
///
/// The calls are made by a process of its own: a daemon that is killed in a call on its own mount could
/// not die. Steps are added from any thread and carried out one after the other by one thread, which
/// is there, like the process, only while there is something to do. No request waits for either.
final class Replayer: Sendable {
    /// What one call may take, in milliseconds.
    private static let patience: UInt64 = 10_000
    /// The process is kept so long for further steps, in milliseconds.
    private static let rest: UInt64 = 3_000
    /// A step waits so long for others that were announced, in milliseconds.
    private static let announcedPatience: UInt64 = 1_000
    /// A name that somebody has looked up meanwhile has to be forgotten by the kernel again.
    private static let attempts = 4
    /// What a call says when the kernel knew something else of the name than it is to find there.
    private static let misled: Set<Int32> = [EEXIST, ENOENT, ENOTDIR, EISDIR, ESTALE]

    struct State {
        var queue = ReplayQueue()
        var changes = AnnouncedSteps()
        var fresh = FreshFolders()
        /// What the helper is at.
        var current: ReplayStep?
        /// It has found, in its call, what that step is about at its place.
        var isFound = false
        var entry: QueryEntry?
        var granted: GrantedStep?
        var former: NodeNumber?
        /// The number of the folder that it looked that up in last.
        var formerFolder: UInt64 = 0
        var isRunning = false
        var ended = false
    }
    let state = Monitor(State())
    /// The helper's process; 0 while there is none.
    private let helper = Atomic<Int32>(0)
    /// The names of steps that are expected or wait.
    private let names = ReplayedNames()
    unowned let volume: Volume
    private let program: String
    private let mountPoint: [UInt8]

    init(_ volume: Volume, program: String, mountPoint: String) {
        self.volume = volume
        self.program = program
        self.mountPoint = mountPoint.pathBytes
    }

    /// Whether a request of that thread is the helper's. One load and a comparison.
    @inline(__always)
    func isHelper(_ thread: Int32) -> Bool {
        let helper = helper.load(ordering: .acquiring)
        return helper != 0 && helper == thread
    }

    // MARK: Adding

    /// Changes are about to be made; with the number that this returns their steps come by
    /// ``add(_:announced:)``, none if it comes to nothing.
    func announce() -> UInt64 { state.withLock { $0.changes.announce() } }

    /// These changes were made; their steps come when the kernel has forgotten the names.
    func expect(_ steps: [ReplayStep]) { names.note(steps) }

    /// Whether the kernel must not keep what is found at a name.
    @inline(__always)
    func isExpected(_ parent: NodeNumber, _ name: UnsafeRawBufferPointer) -> Bool {
        names.has(parent, name)
    }

    /// The changes that were expected, in their order; told when those are that were announced before.
    func add(_ steps: [ReplayStep], announced change: UInt64) {
        var dropped: [ReplayStep] = []
        add { state in
            let now = MonotonicClock.now
            for step in state.changes.take(steps, of: change)
            where !state.queue.add(step, now: now) {
                dropped.append(step)
            }
        }
        names.end(dropped)
    }

    /// What a path from the root names has changed.
    func add(path: [UInt8]) { add { $0.queue.add(path: path, now: MonotonicClock.now) } }

    /// Names that came and went among the saved queries and in their folders.
    func add(_ entries: [QueryEntry]) {
        add { state in
            let now = MonotonicClock.now
            for entry in entries { state.queue.add(query: entry, now: now) }
        }
    }

    /// What came by other nodes than those.
    func add(_ changes: [NodeChange]) {
        add { state in
            for change in changes { state.queue.add(change) }
        }
    }

    /// What an owner granted otherwise, in the mount of an app.
    ///
    /// - Parameter isWatchable: whether the kernel knows the owner's folder.
    func add(granted steps: [GrantedStep], isWatchable: Bool) {
        add { state in
            let now = MonotonicClock.now
            for step in steps {
                state.queue.add(granted: step, isWatchable: isWatchable, now: now)
            }
        }
    }

    private func add(_ body: (inout State) -> Void) {
        let starts = state.signal { state -> Bool in
            if state.ended { return false }
            body(&state)
            if state.isRunning || state.queue.isEmpty { return false }
            state.isRunning = true
            return true
        }
        if starts {
            Threads.start("replay", yielding: true, keeping: volume) { [self] in run() }
        }
    }

    /// Drops what waits; returns when the thread is gone.
    func stop() {
        state.signal { $0.ended = true }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: Self.patience)) {
            $0.isRunning ? nil : true
        }
    }

    // MARK: The thread

    private func run() {
        var worker: WorkerProcess?
        while let work = take() {
            if worker == nil {
                worker = try? start()
                helper.store(worker?.process.identifier ?? 0, ordering: .releasing)
            }
            if let running = worker {
                if !perform(work, running) { worker = nil }
            } else if case .step(let step) = work {
                // Nobody is told; the kernel may keep the names all the same.
                names.end([step])
            }
            if worker == nil { helper.store(0, ordering: .releasing) }
        }
    }

    private func start() throws -> WorkerProcess {
        let worker = try WorkerProcess([program, "--helper", "replay"])
        try worker.channel.send(mountPoint)
        return worker
    }

    /// The next thing to do; nil if nothing came for a while, and the thread is to end.
    private func take() -> ReplayQueue.Work? {
        let next = state.wait(until: MonotonicClock.after(milliseconds: Self.rest)) {
            state -> ReplayQueue.Work?? in
            if state.ended { return .some(nil) }
            guard let work = state.queue.take() else { return nil }
            return work
        }
        if let work = next ?? nil { return work }
        // Under the same lock as those who add: what came at the last moment is not forgotten.
        return state.signal { state in
            if !state.ended, let work = state.queue.take() { return work }
            // Before another thread can have a process of its own.
            helper.store(0, ordering: .releasing)
            state.isRunning = false
            state.queue.rest()
            state.fresh = FreshFolders()
            return nil
        }
    }

    /// False if the process is of no more use.
    private func perform(_ work: ReplayQueue.Work, _ worker: WorkerProcess) -> Bool {
        switch work {
        case .directory(let item):
            let path = volume.state.withLock { state -> [UInt8]? in
                let position = state.index.find(item)
                guard position != 0, state.isWatchable(position) else { return nil }
                return state.index.path(of: position)
            }
            guard let path else { return true }
            return ask(.touch(path), worker) != nil
        case .path(let path): return ask(.touch(path), worker) != nil
        case .query(let entry):
            state.withLock { $0.entry = entry }
            defer { state.withLock { $0.entry = nil } }
            return ask(call(for: entry), worker) != nil
        case .node(let change): return tell(change, worker)
        case .granted(let step):
            state.withLock { $0.granted = step }
            defer { state.withLock { $0.granted = nil } }
            guard ask(step.call, worker) != nil else { return false }
            if step.document == nil {
                pause(until: MonotonicClock.after(milliseconds: FreshFolders.moment.granted))
            }
            volume.grantedResults?.replay?.tellFormer(step)
            return true
        case .step(let step):
            state.withLock { $0.current = step }
            defer {
                state.withLock { $0.current = nil }
                names.end([step])
            }
            return perform(step, worker)
        }
    }

    private func perform(_ step: ReplayStep, _ worker: WorkerProcess) -> Bool {
        awaitWatchers(of: step)
        let end = MonotonicClock.after(milliseconds: Self.announcedPatience)
        var attempts = 0
        while attempts < Self.attempts {
            let arrived = state.withLock { $0.changes.arrived }
            guard let call = call(for: step) else {
                // The step by which things are otherwise may be on its way, or has come just now.
                if awaitAnnounced(after: arrived, until: end) { continue }
                return true
            }
            state.withLock { $0.isFound = false }
            let directories = step.places.map(\.parent) + [step.node.item]
            guard let answer = ask(call, worker, locking: directories) else { return false }
            guard Self.misled.contains(answer) else {
                if step.makesFolder {
                    let end = MonotonicClock.after(milliseconds: FreshFolders.moment.own)
                    state.withLock { $0.fresh.add(step.node.item, until: end) }
                }
                return true
            }
            forgetNames(of: step)
            attempts += 1
        }
        return true
    }

    /// Who was told of the folder just now comes to watch it.
    private func awaitWatchers(of step: ReplayStep) {
        let end = state.withLock { $0.fresh.take(step.places.map(\.parent)) }
        if let end { pause(until: end) }
    }

    private func pause(until end: UInt64) {
        let _: Bool? = state.wait(until: end) { $0.ended ? true : nil }
    }

    /// Waits until another change than the `arrived` first ones has its steps here; false if none is
    /// announced, or it takes too long.
    private func awaitAnnounced(after arrived: UInt64, until end: UInt64) -> Bool {
        state.wait(until: end) { state -> Bool? in
            if state.changes.arrived > arrived, !state.ended { return true }
            return state.changes.announced == arrived || state.ended ? false : nil
        } ?? false
    }

    /// What the helper said; nil if it is gone, or is ended because it takes too long.
    ///
    /// - Parameter directories: those that the kernel locks for the call; nil if that is not known.
    func ask(
        _ call: ReplayCall, _ worker: WorkerProcess, locking directories: [ItemNumber]? = nil
    ) -> Int32? {
        let message = call.message
        guard message.count <= ReplayHelper.messageBytes else { return ENAMETOOLONG }
        let patience = WorkerChannel.Patience(milliseconds: Self.patience)
        return volume.movedFolders.locking(directories) {
            guard (try? worker.channel.send(message, patience)) != nil,
                let received = try? worker.channel.receive(limit: 1, patience),
                let code = received.message.first
            else { return nil }
            return Int32(code)
        }
    }

    /// Has the kernel forget what somebody has looked up since the change. Waits for that.
    private func forgetNames(of step: ReplayStep) {
        let names = volume.state.withLock { state in
            step.places.compactMap { place -> (parent: UInt64, name: [UInt8])? in
                let directory = state.index.find(place.parent)
                if directory == 0 { return nil }
                return (state.index[item: directory].pointee.node.rawValue, place.name)
            }
        }
        let done = Monitor(false)
        volume.forget(names: names) { done.signal { $0 = true } }
        let _: Bool? = done.wait(until: MonotonicClock.after(milliseconds: 1_000)) {
            $0 ? true : nil
        }
    }

    // MARK: What is true

    /// The call for a step; nil if nobody can watch it any more, or it is not how things are.
    private func call(for step: ReplayStep) -> ReplayCall? {
        volume.state.withLock { state in
            guard let path = path(step.place, step.folder, state) else { return nil }
            let position = state.item(at: step.place)
            let isItem = position != 0 && state.number(position) == step.node.item
            switch step.kind {
            case .made(let target):
                guard isItem, isWatchable(step.place, state) else { return nil }
                switch step.mode & S_IFMT {
                case S_IFDIR: return .folder(path)
                case S_IFLNK: return .symlink(path, target: target)
                default: return .file(path: path, size: state.index[item: position].pointee.size)
                }
            case .written:
                guard isItem, isWatchable(step.place, state) else { return nil }
                return .write(path, size: state.index[item: position].pointee.size)
            case .removed:
                guard isLeft(step.place, position, state) else { return nil }
                return step.mode & S_IFMT == S_IFDIR ? .removeFolder(path) : .unlink(path)
            case .moved(let target):
                let moved = state.item(at: target)
                let isThere = moved != 0 && state.number(moved) == step.node.item
                // Or it has gone on from there.
                guard isLeft(step.place, position, state),
                    isThere || isTaken(step.node.item, from: target),
                    let newPath = self.path(target, [], state)
                else { return nil }
                return .rename(path, to: newPath)
            }
        }
    }

    /// Whether a place that a step takes an item away from is empty, or has got what is there by a step
    /// that is told later; of what a program made there the kernel has told already.
    private func isLeft(
        _ place: ReplayStep.Place, _ position: MemoryIndex.Position, _ state: VolumeState
    ) -> Bool {
        if position == 0 { return true }
        let item = state.number(position)
        return self.state.withLock { $0.queue.brings(item, to: place) }
    }

    private func isTaken(_ item: ItemNumber, from place: ReplayStep.Place) -> Bool {
        state.withLock { $0.queue.takes(item, from: place) }
    }

    private func call(for entry: QueryEntry) -> ReplayCall {
        let path = entry.path
        if entry.isFolder { return entry.isGone ? .removeFolder(path) : .folder(path) }
        return entry.isGone ? .unlink(path) : .symlink(path, target: entry.name.pathBytes)
    }

    private func isWatchable(_ place: ReplayStep.Place, _ state: VolumeState) -> Bool {
        let directory = state.index.find(place.parent)
        return directory != 0 && state.isWatchable(directory)
    }

    /// Where a place is now; where it was, if its directory is gone.
    private func path(
        _ place: ReplayStep.Place, _ folder: [UInt8], _ state: VolumeState
    ) -> [UInt8]? {
        let directory = state.index.find(place.parent)
        let above = directory == 0 ? folder : state.index.path(of: directory) ?? folder
        // A NUL or a name that goes up is in no name here; the root's path is empty.
        return above + (above.isEmpty ? [] : [UInt8(ascii: "/")]) + place.name
    }
}
