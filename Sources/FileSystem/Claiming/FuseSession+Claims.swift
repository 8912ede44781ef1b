internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// What a file operation is, to claims.
struct Operation: Sendable {
    var targets: [ClaimTarget]
    var origin: ClaimRequest.Origin
    /// How long it waits for claims of others, in milliseconds.
    var patience: UInt64
    /// What it is answered then; `nil`: it goes ahead.
    var failure: Errno?
}

extension Volume {
    /// How long an open waits for claims of others, in milliseconds.
    static let openPatience: UInt64 = 10_000
    /// How long a lock does: for ever (a year).
    static let lockPatience: UInt64 = 31_536_000_000
    /// How long a change of names does: the kernel keeps the directory locked meanwhile, and who
    /// holds the claim may need it.
    static let namingPatience: UInt64 = 100

    /// An open of a file, to claims; `nil` if the item is gone.
    func opening(_ node: NodeNumber, _ flags: Int32) -> Operation? {
        let writes = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        let patience = flags & O_NONBLOCK != 0 ? 0 : Self.openPatience
        return operation(
            on: node, writes ? .write : .read, .opening, patience,
            patience == 0 ? Errno(EWOULDBLOCK) : writes ? Errno(EBUSY) : nil)
    }

    /// A change of a file's size by its name, to claims.
    func resizing(_ node: NodeNumber) -> Operation? {
        operation(on: node, .write, .naming, Self.namingPatience, Errno(EBUSY))
    }

    /// A file lock, to claims. As for a lock that others hold, there is no end to the waiting but the
    /// end of the claim, or a signal.
    func locking(_ lock: LockRequest, wait: Bool) -> Operation? {
        operation(
            on: NodeNumber(lock.item, 0), lock.access, .locking,
            wait ? Self.lockPatience : 0, Errno(EWOULDBLOCK))
    }

    private func operation(
        on node: NodeNumber, _ access: ClaimAccess, _ origin: ClaimRequest.Origin,
        _ patience: UInt64, _ failure: Errno?
    ) -> Operation? {
        let paths = state.withLock { state in
            let position = state.index.find(node.item)
            return position == 0 ? [] : state.paths(of: position)
        }
        if paths.isEmpty { return nil }
        return Operation(
            targets: paths.map { ClaimTarget($0, access) }, origin: origin, patience: patience,
            failure: failure)
    }

    /// A change of names, to claims.
    func naming(_ names: [(parent: NodeNumber, name: [UInt8], access: ClaimAccess)]) -> Operation {
        let targets = state.withLock { state in
            names.compactMap { name -> ClaimTarget? in
                let directory = state.index.find(name.parent.item)
                if directory == 0 { return nil }
                return ClaimTarget(state.path(directory, name.name), name.access)
            }
        }
        return Operation(
            targets: targets, origin: .naming, patience: Self.namingPatience,
            failure: Errno(EBUSY))
    }
}

extension VolumeState {
    /// Throws ERESTART if there are claims now that there were none of when an operation was let through
    /// without asking. Under the lock under which claims are asked for: one that comes later finds done what
    /// the operation does while it has the lock.
    @inline(__always)
    func askAgain(_ asksAgain: Bool) throws(Errno) {
        if asksAgain, coordinator.isClaimed { throw Errno(ERESTART) }
    }
}

/// Requests that claims of others are in the way of. They are parked: no thread waits with them.
extension FuseSession {
    /// Whether claims have to be asked at all. One load of a flag.
    @inline(__always)
    var isClaimed: Bool { volume.coordinator.isClaimed }

    /// Runs `work` when no claim of others is in its way, answers the request with what it throws.
    /// Only while ``isClaimed``, which may have ended meanwhile.
    func whenFree(
        _ request: Request, _ operation: Operation?,
        _ work: @escaping @Sendable () throws(Errno) -> Void
    ) {
        let run: @Sendable () -> Void = {
            do throws(Errno) { try work() } catch { request.fail(error) }
        }
        let coordinator = volume.coordinator
        guard let operation, !operation.targets.isEmpty else { return run() }
        let agent = Operator(CallerProcess.process(of: request.caller.thread))
        let wanted = agent.request(
            operation.targets, operation.origin,
            deadline: MonotonicClock.after(milliseconds: operation.patience))
        if operation.patience == 0, !coordinator.isFree(wanted) {
            if let failure = operation.failure { return request.fail(failure) }
            return run()
        }
        let ticket = coordinator.ticket()
        answerInterrupts(of: request, .claim, ticket)
        let decide: @Sendable (ClaimID, Coordinator.Outcome) -> Void = { [volume] id, outcome in
            switch outcome {
            case .granted:
                volume.state.withLock { $0.note(agent) }
                run()
                coordinator.release([id])
            case .refused(.cancelled): request.fail(Errno(EINTR))
            case .refused:
                if let failure = operation.failure { request.fail(failure) } else { run() }
            }
        }
        let answer = coordinator.claim(wanted, ticket: ticket, reply: decide)
        if let answer, let outcome = answer.outcome { decide(answer.id, outcome) }
    }

    /// Runs `work`, which changes a name, when no claim of others is in its way.
    ///
    /// - Parameter work: is told whether it has to ask for claims once more (``VolumeState/askAgain(_:)``).
    func naming(
        _ request: Request,
        _ place: (parent: NodeNumber, name: UnsafeRawBufferPointer, access: ClaimAccess),
        _ work: @escaping @Sendable (UnsafeRawBufferPointer, Bool) throws(Errno) -> Void
    ) throws(Errno) {
        if !isClaimed {
            do throws(Errno) { return try work(place.name, true) } catch {
                guard error.code == ERESTART else { throw error }
            }
        }
        volume.settleNames(in: [place.parent])
        let kept = Kept(Array(place.name))
        let operation = volume.naming([(place.parent, Array(place.name), place.access)])
        whenFree(request, operation) { () throws(Errno) in
            defer { withExtendedLifetime(kept) {} }
            try work(kept.bytes, false)
        }
    }

    /// Opens a document when no claim of others is in the way.
    func openWhenFree(_ request: Request, _ node: NodeNumber, _ flags: Int32) {
        guard isClaimed else { return openWhenHere(request, node, flags, asksAgain: true) }
        whenFree(request, volume.opening(node, flags)) { [self] () throws(Errno) in
            openWhenHere(request, node, flags)
        }
    }

    /// Changes attributes; of a size by name when no claim of others is in the way.
    func setWhenFree(
        _ request: Request, _ node: NodeNumber, _ handle: Handle?, _ settings: Settings
    ) throws(Errno) {
        guard isClaimed, settings.size != nil, handle?.writes != true else {
            return try set(request, node, handle, settings)
        }
        whenFree(request, volume.resizing(node)) { [self] () throws(Errno) in
            try set(request, node, handle, settings)
        }
    }
}
