internal import Catalog
package import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Claims by name on the items of a volume.
extension Volume {
    /// Programs ask for claims at this path; the status tells it.
    package func noteControl(_ path: String) { state.withLock { $0.control = path } }

    /// Asks for a claim; `nil` if there are too many.
    ///
    /// From the first claim on, write sessions and file locks count as claims of the processes that
    /// write, or hold them.
    ///
    /// - Parameter reply: called once, on another thread, if the answer has no outcome.
    package func claim(
        _ request: ClaimRequest, reply: @escaping @Sendable (ClaimID, Coordinator.Outcome) -> Void
    ) -> Coordinator.Answer? {
        // Who writes is asked for without the lock: /proc may take its time.
        let (writers, holders) = state.withLock { state in
            let writers = Set(
                state.sessions.values.lazy.flatMap { session in
                    session.processes.filter { session.claims[$0] == nil }
                })
            return (writers, state.lockHolders)
        }
        let lockers = Dictionary(uniqueKeysWithValues: holders.map { ($0, Operator($0)) })
        let families = Dictionary(uniqueKeysWithValues: writers.map { ($0, Operator($0)) })
        let family = CallerProcess.family(of: request.holder.process)
        // Who has a claim finds what was renamed before under the name that it has.
        let tell: @Sendable (ClaimID, Coordinator.Outcome) -> Void = { [self] id, outcome in
            guard case .granted(let paths) = outcome else { return reply(id, outcome) }
            whenMade(state.withLock { $0.changing(paths) }) { reply(id, outcome) }
        }
        let (answer, places) = state.withLock {
            state -> (Coordinator.Answer?, [ReplayStep.Place]) in
            var complete = request
            complete.family = family
            for target in request.targets {
                complete.targets += state.otherNames(of: target.path).map {
                    ClaimTarget($0, target.access)
                }
            }
            // Those too that have joined others while nobody claimed.
            for (position, session) in state.sessions {
                for process in session.processes where session.claims[process] == nil {
                    state.claim(
                        session, at: position, for: families[process] ?? Operator(known: process))
                }
            }
            state.claimLocks(lockers)
            let answer = coordinator.claim(complete, reply: tell)
            guard case .granted(let paths)? = answer?.outcome else { return (answer, []) }
            return (answer, state.changing(paths))
        }
        guard let answer, let outcome = answer.outcome, !places.isEmpty else { return answer }
        whenMade(places) { reply(answer.id, outcome) }
        return (answer.id, nil)
    }
}

extension Volume {
    /// Who keeps a process from locking the file at a path for itself at this moment: claims by name,
    /// and file locks of others. None if there is no such file.
    package func holders(of path: ClaimPath, for process: Int32) -> [ClaimListing] {
        let (paths, locks) = state.withLock { state -> ([ClaimPath], [LockRequest]) in
            let position = state.index.item(
                at: Array(path.names.joined(separator: [UInt8(ascii: "/")])))
            if position == 0 { return ([], []) }
            return (state.paths(of: position), state.locks.held(on: state.number(position)))
        }
        let request = Operator(process).request(
            paths.map { ClaimTarget($0, .write) }, .locking, deadline: 0)
        let held = locks.filter { $0.process != process }.map { lock in
            ClaimListing(
                id: ClaimID(rawValue: 0),
                holder: ClaimHolder(
                    process: lock.process, command: CallerProcess.command(of: lock.process)),
                origin: .locking,
                targets: [ClaimTarget(path, lock.access)],
                phase: .granted, since: lock.since)
        }
        return coordinator.obstacles(to: request) + held
    }
}

/// A process that makes file operations, with its ancestors.
struct Operator {
    let process: Int32
    let command: String
    let family: [Int32]

    /// Looks at /proc.
    init(_ process: Int32) {
        self.process = process
        command = CallerProcess.command(of: process)
        family = CallerProcess.family(of: process)
    }

    /// Only what is known without looking.
    init(known process: Int32) {
        self.process = process
        command = ""
        family = [process]
    }

    /// All that a process does is one line of work.
    var purpose: ClaimPurpose {
        ClaimPurpose(rawValue: 1 << 63 | UInt64(UInt32(bitPattern: process)))
    }

    func request(
        _ targets: [ClaimTarget], _ origin: ClaimRequest.Origin, deadline: UInt64
    ) -> ClaimRequest {
        ClaimRequest(
            targets, purpose: purpose, holder: ClaimHolder(process: process, command: command),
            origin: origin, family: family, deadline: deadline)
    }
}

extension VolumeState {
    /// Counts the session as a claim of the process that writes, until it ends.
    func claim(_ session: WriteSession, at position: MemoryIndex.Position, for writer: Operator) {
        let targets = paths(of: position).map { ClaimTarget($0, .write) }
        if targets.isEmpty || session.claims[writer.process] != nil { return }
        session.claims[writer.process] = coordinator.note(
            writer.request(targets, .session, deadline: .max))
    }

    /// A process makes an operation: should it write, its ancestors are known.
    func note(_ agent: Operator) {
        if operators.count >= mostOperators {
            // Who waits for a lock holds a claim when they get it.
            let lockers = locks.processes
            operators = operators.filter { lockers.contains($0.key) }
            mostOperators = max(256, 2 * operators.count)
        }
        operators[agent.process] = agent
    }

    /// A process is about to write in the session.
    @inline(__always)
    func noteWriter(
        _ session: WriteSession, at position: MemoryIndex.Position, _ process: Int32
    ) {
        if coordinator.isClaimed {
            claim(session, at: position, for: operators[process] ?? Operator(known: process))
        }
    }

    /// A process has closed a writing handle. When it has no other, those that write on keep claims
    /// away, and it does no more.
    @inline(__always)
    func noteClosed(_ session: WriteSession, _ process: Int32) {
        // The last one keeps them away until what was written is published.
        if session.claims.isEmpty || session.handles == 0 { return }
        if session.processes.contains(process) { return }
        guard let claim = session.claims.removeValue(forKey: process) else { return }
        coordinator.release([claim])
    }

    /// The session has ended.
    func unclaim(_ session: WriteSession) {
        if session.claims.isEmpty { return }
        coordinator.release(Array(session.claims.values))
        session.claims = [:]
    }

    // MARK: Paths

    /// Every name of an item, or the package it is inside of.
    func paths(of position: MemoryIndex.Position) -> [ClaimPath] {
        if index[item: position].pointee.number == ItemNumber.root.rawValue {
            return [ClaimPath([])]
        }
        var list: [ClaimPath] = []
        var name = index[item: position].pointee.firstName
        while name != 0, list.count < Self.mostNames {
            let path = path(
                index[name: name].pointee.parent, Array(index.nameBytes(name)))
            if !list.contains(path) { list.append(path) }
            name = index[name: name].pointee.nextOfItem
        }
        return list
    }

    /// Of a document with more hard links only so many are claimed.
    private static var mostNames: Int { 64 }

    /// The place of a name in a directory, or the package it is inside of.
    func path(_ directory: MemoryIndex.Position, _ name: [UInt8]) -> ClaimPath {
        place(directory, name).document
    }

    /// The place of a name in a directory.
    func place(_ directory: MemoryIndex.Position, _ name: [UInt8]) -> ClaimPath {
        var names = [name]
        var above = directory
        while above != 0, index[item: above].pointee.number != ItemNumber.root.rawValue {
            let own = index[item: above].pointee.firstName
            if own == 0 { break }
            names.append(Array(index.nameBytes(own)))
            above = index[name: own].pointee.parent
        }
        return ClaimPath(names.reversed())
    }

    /// Those of the paths whose names the kernel may still lead elsewhere.
    func changing(_ paths: [ClaimPath]) -> [ReplayStep.Place] {
        paths.compactMap { path in
            guard let name = path.names.last else { return nil }
            let above = path.names.dropLast().joined(separator: [UInt8(ascii: "/")])
            let directory = index.item(at: Array(above))
            if directory == 0 { return nil }
            let place = ReplayStep.Place(parent: number(directory), name: name)
            return changingNames.sight(of: place) == .present ? nil : place
        }
    }

    /// The other names of the file at a path, if it has several.
    func otherNames(of path: ClaimPath) -> [ClaimPath] {
        var position = index.find(.root)
        for name in path.names {
            let found = name.withUnsafeBytes { index.lookup(position, $0) }
            if found == 0 { return [] }
            position = index[name: found].pointee.item
        }
        let record = index[item: position]
        if record.pointee.isDirectory || record.pointee.links < 2 { return [] }
        return paths(of: position).filter { $0 != path }
    }
}
