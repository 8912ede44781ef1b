internal import SystemCalls

extension Document {
    private enum Work {
        case tell([DocumentEvent])
        case look
        case save
        case attach
        /// Another time counts.
        case again
        case end
    }

    /// The document's thread: tells what happened, and has the document saved when it is quiet, and its file
    /// looked at.
    func work() {
        while true {
            let deadline = core.withLock { nextTime($0) }
            switch core.wait(until: deadline, { next(&$0, deadline) }) {
            case .tell(let events): for event in events { notify(event) }
            case .look: aside { $0.lookInTurn() }
            // Its error is in the state.
            case .save: aside { try? $0.save() }
            case .attach: aside { $0.attach() }
            case .again, nil: break
            case .end: return
            }
        }
    }

    /// Does what may wait for other programs: meanwhile the thread tells what happens, unless there can be no
    /// other thread.
    private func aside(_ body: @escaping @Sendable (Document) -> Void) {
        core.withLock { $0.isBusy = true }
        let run = { @Sendable in
            body(self)
            self.core.signal { $0.isBusy = false }
        }
        if !Threads.startIfPossible("document file", run) { run() }
    }

    private func lookInTurn() {
        do { try inTurn { try look() } } catch {
            let later = MonotonicClock.after(milliseconds: Self.pause)
            core.signal { core in
                core.error = error
                core.lookTime = later
            }
        }
    }

    /// When something is to be done (monotonic nanoseconds).
    private func nextTime(_ core: Core) -> UInt64 {
        if core.isOpening || core.isBusy { return .max }
        return min(core.lookTime ?? .max, core.attachTime ?? .max, saveTime(core))
    }

    private func saveTime(_ core: Core) -> UInt64 {
        guard let quietTime, core.isUnsaved, core.conflict == nil else { return .max }
        // No longer than a day.
        let quiet = UInt64(max(0, min(quietTime, .seconds(86_400)) / .nanoseconds(1)))
        // Who never pauses is saved too.
        let time = min(core.lastChange + quiet, core.firstChange + quiet * 10)
        return max(time, core.retryTime ?? 0)
    }

    private func next(_ core: inout Core, _ deadline: UInt64) -> Work? {
        if !core.events.isEmpty {
            defer { core.events = [] }
            return .tell(core.events)
        }
        if !core.isOpen, !core.isOpening {
            core.isServed = false
            return .end
        }
        // What else is to be done waits for its turn, behind the opening.
        if core.isOpening || core.isBusy { return nextTime(core) == deadline ? nil : .again }
        let now = MonotonicClock.now
        if let time = core.lookTime, time <= now {
            core.lookTime = nil
            return .look
        }
        if let time = core.attachTime, time <= now {
            core.attachTime = nil
            return .attach
        }
        if saveTime(core) <= now { return .save }
        return nextTime(core) == deadline ? nil : .again
    }

    /// Is presented again after the mount went away, as soon as it is back.
    private func attach() {
        let now = core.withLock { $0 }
        guard now.isOpen else { return }
        do {
            try checkMount(now)
            let presentation = try FilePresentation(of: now.path, DocumentPresenter(self))
            let isWanted = core.signal { core -> Bool in
                guard core.isOpen else { return false }
                core.presentation = presentation
                core.lookTime = MonotonicClock.now
                return true
            }
            if !isWanted { presentation.end() }
        } catch {
            core.signal { core in
                core.attachTime = MonotonicClock.after(milliseconds: Self.pause)
                // Its folder is gone: looking finds out where the file is.
                if case CoordinationError.badPath = error { core.lookTime = MonotonicClock.now }
            }
        }
    }
}

/// Lets a document follow its file.
final class DocumentPresenter<Contents: DocumentContents>: FilePresenter {
    private let document: Document<Contents>

    init(_ document: Document<Contents>) { self.document = document }

    private func look() { document.core.signal { $0.lookTime = MonotonicClock.now } }

    func saveChanges() {
        // Two that open the file at once ask each other: who has nothing to save does not wait for a turn.
        if document.hasUnsavedChanges { try? document.save() }
    }
    func itemChanged() { look() }
    func itemDeleted() {
        document.core.signal { core in
            core.lookTime = MonotonicClock.now
            core.deletionTime = MonotonicClock.after(milliseconds: 10_000)
        }
    }
    func itemMoved(to path: String) {
        let former = document.core.signal { core -> FilePresentation? in
            core.lookTime = MonotonicClock.now
            if TrashFolder.isEntered(from: core.path, to: path) {
                // It is deleted; what takes its name is the document then, and is presented.
                core.attachTime = MonotonicClock.now
                return core.presentation.take()
            }
            core.path = path
            core.events.append(.moved(to: path))
            return nil
        }
        former?.end()
    }
    func presentationEnded() {
        document.core.signal { core in
            // One that another has replaced says nothing of the mount, nor one that tells of no mount.
            if !core.isMounted || core.presentation?.isTelling == true { return }
            core.wasAway = true
            if core.isOpen || core.isOpening { core.attachTime = MonotonicClock.now }
        }
    }
}
