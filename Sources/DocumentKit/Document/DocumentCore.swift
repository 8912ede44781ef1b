internal import SystemCalls

extension Document {
    /// What a document knows; guarded by its monitor.
    struct Core {
        var path: String
        /// The file is in a mounted container.
        var isMounted = false
        /// Which it is of the mount's own documents.
        var identity: MountedDocument?
        /// Its mount went away, and it was not found since: meanwhile nobody told where it was moved to.
        var wasAway = false
        var contents: Contents?
        var state: DocumentState = [.closed, .editingDisabled]
        var changeCount = 0
        /// How often ``contents`` became others, also by loading.
        var revision = 0
        /// The ``changeCount`` that the file has.
        var savedCount = 0
        /// When the first and the last change since then were made (monotonic nanoseconds).
        var firstChange: UInt64 = 0
        var lastChange: UInt64 = 0
        /// What the file held when it was read or written last; `nil` if it was gone.
        var known: DocumentFileState?
        /// The digest of what the last save was to write, unless that went well. The file may hold it all the
        /// same: what a close has kept is published also if the daemon is killed before it answers.
        var attempted: [UInt8]?
        /// How often in a row there was no file.
        var misses = 0
        /// Until when a file that is said to be deleted is looked for again where it is there: the kernel knows it by
        /// its name until the deletion has been answered, which may be after it was told.
        var deletionTime: UInt64 = 0
        var conflict: DocumentConflict<Contents>?
        var error: (any Error)?
        var disabled = 0
        /// It is on its way to be open: nothing but what happens is told.
        var isOpening = false
        /// Waits for its claim, from the moment on when it can be told to wait no more.
        var opening: FileCoordinator?
        /// The threads that open it, or wait for their turn to.
        var openers: Set<UInt> = []
        /// Nobody wants it to be opened any more.
        var isCancelled = false
        /// It is being saved, or its file looked at, as its thread wants it.
        var isBusy = false
        /// A thread works for it.
        var isServed = false
        var presentation: FilePresentation?
        /// When to look at the file, to save again, and to be presented again.
        var lookTime: UInt64?
        var retryTime: UInt64?
        var attachTime: UInt64?
        /// What is to be told.
        var events: [DocumentEvent] = []

        init(path: String) { self.path = path }

        var isOpen: Bool { !state.contains(.closed) }
        var isUnsaved: Bool { changeCount != savedCount }

        /// Whether this is what was read or written last (`nil`: no file). Where others wrote just what a
        /// save was to write, nothing of theirs is lost by the next one.
        func knows(_ file: DocumentFileState?) -> Bool {
            file?.digest == known?.digest || file != nil && file?.digest == attempted
        }

        func editable() throws(DocumentProblem) -> Contents {
            guard isOpen, let contents else { throw .closed }
            if state.contains(.editingDisabled) { throw .editingDisabled }
            return contents
        }

        mutating func put(_ new: Contents) {
            contents = new
            revision += 1
            lastChange = MonotonicClock.now
            if !isUnsaved { firstChange = lastChange }
            changeCount += 1
            events.append(.contentsChanged)
        }

        /// The contents are those of the file.
        mutating func load(_ new: Contents, _ file: DocumentFileState) {
            contents = new
            revision += 1
            (known, attempted) = (file, nil)
            savedCount = changeCount
            error = nil
            setState(.savingError, false)
            events.append(.contentsChanged)
        }

        /// Where it is moved to is told from now on, if it is presented.
        mutating func foundInPlace() { if presentation?.isTelling == true { wasAway = false } }

        /// The file holds what it did: nothing is wrong with it any more.
        mutating func foundKnown() {
            misses = 0
            foundInPlace()
            if MonotonicClock.now < deletionTime {
                lookTime = min(lookTime ?? .max, MonotonicClock.after(milliseconds: 200))
            }
            if conflict == nil, !state.contains(.savingError) { error = nil }
        }

        mutating func setState(_ part: DocumentState, _ isSo: Bool) {
            let before = state
            if isSo { state.insert(part) } else { state.remove(part) }
            if state != before { events.append(.stateChanged(state)) }
        }

        /// It is closed from now on. Returns what told of its file.
        mutating func close() -> FilePresentation? {
            setConflict(nil)
            // What was not saved is in another file, or nobody wants it.
            savedCount = changeCount
            setState(.editingDisabled, true)
            setState(.closed, true)
            return presentation.take()
        }

        /// A conflict is about what the file was found to hold last.
        mutating func setConflict(_ new: DocumentConflict<Contents>?) {
            let former = conflict
            conflict = new
            conflict?.digest = known?.digest
            setState(.inConflict, new != nil)
            if let former, let conflict, former.digest != conflict.digest {
                events.append(.stateChanged(state))
            }
        }
    }
}

/// Which content a file had.
struct DocumentFileState: Hashable, Sendable {
    let stamp: FileStamp
    /// SHA-256.
    let digest: [UInt8]
    /// When its stamp was taken, the file had not changed for a while: a later change gives it another time.
    private let isSettled: Bool

    /// Times of files advance in steps; nobody has longer ones, in nanoseconds.
    private static let step: Int64 = 100_000_000

    /// - Parameter moment: before the stamp was taken, and that before the content was read; `nil` where what
    ///   others write at once may have that stamp.
    init(_ stamp: FileStamp, digest: [UInt8], at moment: (seconds: Int64, nanoseconds: Int64)?) {
        self.stamp = stamp
        self.digest = digest
        isSettled =
            moment.map { $0.seconds * 1_000_000_000 + $0.nanoseconds > stamp.changed &+ Self.step }
            ?? false
    }

    /// Whether what the path names has this content for sure, without reading it.
    ///
    /// - Parameter isMounted: in a container each version has a stamp of its own.
    func isUnchanged(at path: String, isMounted: Bool) -> Bool {
        (isMounted || isSettled) && FileStamp(path: path) == stamp
    }
}
