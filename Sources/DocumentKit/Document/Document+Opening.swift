internal import Glibc
internal import PathText
internal import SystemCalls

extension Document {
    /// Loads the file, and follows it from now on.
    ///
    /// Waits for its content, which may have to come from a store: meanwhile the state has
    /// ``DocumentState/progressAvailable``, which is told before; ``cancelOpening()`` ends that. A document is
    /// opened once.
    ///
    /// - Parameter new: what the file is made of if there is none, or it goes before it is open.
    /// - Throws: ``DocumentProblem``, ``CoordinationError``, or what is wrong with the content.
    public func open(creating new: Contents? = nil) throws {
        let this = UInt(pthread_self())
        core.signal { core in
            if core.openers.isEmpty { core.isCancelled = false }
            core.openers.insert(this)
        }
        defer { core.signal { _ = $0.openers.remove(this) } }
        try inTurn(unless: { $0.isCancelled }) {
            let given = try core.withLock { core throws(DocumentProblem) in
                if core.isOpen { throw .open }
                // What was closed stays so.
                if core.contents != nil { throw .closed }
                return core.path
            }
            for round in 1... {
                if let new, access(given.cPath, F_OK) != 0 { try make(new, given) }
                do { return try load(given) } catch is Absent {
                    // Moved away meanwhile, it is made anew; not for ever beside one who moves on and on.
                    guard new != nil, round < Self.mostRounds else {
                        throw DocumentProblem.file("\(given): \(Errno(ENOENT))")
                    }
                }
            }
        }
    }

    /// There is no file any more.
    private struct Absent: Error {}

    /// How often a file is made that others move away before it is open.
    private static var mostRounds: Int { 16 }

    /// Opens the file at a path. In turn.
    private func load(_ given: String) throws {
        guard let path = MountTable.resolved(given) else {
            let error = Errno.last
            if error.code == ENOENT { throw Absent() }
            throw DocumentProblem.file("\(given): \(error)")
        }
        let point = try ItemPlace(path).mountPoint
        let identity = point.flatMap { MountedDocument(at: path, in: $0) }
        let isComing = Self.isComing(path)
        let isServed = core.signal { core in
            core.path = path
            core.isMounted = point != nil
            core.identity = identity
            (core.isOpening, core.wasAway) = (true, false)
            core.setState(.progressAvailable, isComing)
            defer { core.isServed = true }
            return core.isServed
        }
        if !isServed { Threads.start("document") { self.work() } }
        defer {
            core.signal { core in
                (core.isOpening, core.opening) = (false, nil)
                core.setState(.progressAvailable, false)
            }
        }
        let presentation = try FilePresentation(of: path, DocumentPresenter(self))
        let coordinator = FileCoordinator(purpose: purpose, for: presentation)
        core.signal { $0.opening = coordinator }
        do {
            try coordinator.coordinate([FileIntent(path, .read)]) { paths in
                let place = paths.first ?? path
                guard let read = try DocumentBytes.read(place) else { throw Absent() }
                let contents = try Contents(contents: read.bytes)
                try core.signal { core in
                    if core.isCancelled { throw CoordinationError.cancelled }
                    core.presentation = presentation
                    core.load(contents, read.state)
                    core.setState(.closed, false)
                    core.setState(.editingDisabled, core.disabled > 0)
                }
            }
        } catch CoordinationError.claimLost {
            // It is loaded, and open; whether others came in between shows.
            core.signal { $0.lookTime = MonotonicClock.now }
        } catch {
            presentation.end()
            throw core.withLock { $0.isCancelled } ? CoordinationError.cancelled : error
        }
    }

    /// Ends an opening that waits, for other programs or for the content: ``open(creating:)`` throws
    /// `CoordinationError.cancelled`, and the document can be opened again. The content comes no more for others who
    /// wait for it, either. Returns when it has ended; at once if nothing is being opened by another thread, or where
    /// the content cannot be kept from coming, as in a mount that is read only: what comes is not opened.
    public func cancelOpening() {
        let this = UInt(pthread_self())
        let isOver: (Core) -> Bool = { $0.openers.subtracting([this]).isEmpty }
        while true {
            let (path, coordinator) = core.signal { core -> (String?, FileCoordinator?) in
                core.isCancelled = !core.openers.isEmpty
                return (isOver(core) ? nil : core.path, core.opening)
            }
            guard let path else { return }
            coordinator?.cancel()
            // Who waits behind another call of this document does not any more.
            turn.signal { _ in }
            // The waiting for the content may be about to begin only.
            if coordinator != nil, Self.isComing(path) {
                do {
                    try PathAttributes.set(Self.stateAttribute, Array("cancel".utf8), of: path)
                } catch {
                    if Self.isComing(path) { return }
                }
            }
            let again = MonotonicClock.after(milliseconds: 100)
            let _: Bool? = core.wait(until: again) { isOver($0) ? true : nil }
        }
    }

    private static func isComing(_ path: String) -> Bool {
        let state = try? PathAttributes.value(stateAttribute, of: path)
        return ["promise", "downloading"].contains(String(decoding: state ?? [], as: UTF8.self))
    }

    private static var stateAttribute: String { "user.shapeedit.state" }

    /// Makes the file, as open(2) does: a symlink that leads to none stands for what it leads to.
    private func make(_ new: Contents, _ path: String) throws {
        let bytes = try new.contents()
        do throws(Errno) { try WholeFile.create(SymbolicLink.end(of: path), bytes) } catch {
            // Somebody else was faster.
            if error.code != EEXIST { throw DocumentProblem.file("\(path): \(error)") }
        }
    }

    /// Saves what is not saved and lets the file go. What is in conflict is kept in a file beside it
    /// (``DocumentResolution/both``).
    ///
    /// - Throws: why it could not be saved; it is open still.
    public func close() throws {
        try inTurn {
            // What another thread changes while this saves is saved too.
            while core.withLock({ $0.isOpen }) {
                do { try saveNow() } catch DocumentProblem.inConflict { try settle(.both) }
                finish { !$0.isUnsaved && $0.conflict == nil }
            }
        }
    }

    /// Lets the file go without saving.
    public func closeWithoutSaving() { inTurn { _ = finish() } }

    /// It is closed from now on, if it is as it has to be for that; says whether it was. In turn.
    @discardableResult
    func finish(if mayClose: (Core) -> Bool = { _ in true }) -> Bool {
        let (isDone, presentation) = core.signal { core -> (Bool, FilePresentation?) in
            mayClose(core) ? (true, core.close()) : (false, nil)
        }
        presentation?.end()
        return isDone
    }

    /// Runs `body` when no other reads or writes the file for this document.
    func inTurn<Result>(_ body: () throws -> Result) rethrows -> Result {
        _ = beginTurn()
        defer { turn.signal { $0 = false } }
        return try body()
    }

    /// The same, unless the waiting for that has no more purpose: throws `cancelled` then.
    private func inTurn(unless isVain: (Core) -> Bool, _ body: () throws -> Void) throws {
        guard beginTurn(unless: isVain) else { throw CoordinationError.cancelled }
        defer { turn.signal { $0 = false } }
        try body()
    }

    private func beginTurn(unless isVain: (Core) -> Bool = { _ in false }) -> Bool {
        turn.wait { isBusy -> Bool? in
            if core.withLock({ isVain($0) }) { return false }
            if isBusy { return nil }
            isBusy = true
            return true
        } ?? false
    }

    /// Runs `body` with a claim on the file, where it is by then.
    func coordinate(
        _ path: String, _ access: FileAccess, _ presentation: FilePresentation?,
        _ body: (String) throws -> Void
    ) throws {
        try FileCoordinator(purpose: purpose, for: presentation).coordinate(
            [FileIntent(path, access)]
        ) { paths in try body(paths.first ?? path) }
    }
}
