internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

extension Document {
    /// Saves now what is not saved; waits until it is.
    ///
    /// - Throws: `inConflict`, `closed`, ``CoordinationError``, what `contents()` throws, or why the
    ///   file could not be written. The changes stay, and saving is tried again when it is quiet.
    public func save() throws { try inTurn { try saveNow() } }

    /// In turn.
    func saveNow() throws {
        let now = try core.withLock { core throws(DocumentProblem) in
            if !core.isOpen { throw .closed }
            if core.conflict != nil { throw .inConflict }
            return core
        }
        guard now.isUnsaved, let contents = now.contents else { return }
        do {
            let bytes = try contents.contents()
            let digest = try Hashing.sha256(bytes)
            try checkMount(now)
            if isFolderGone(of: now.path) {
                // Where it was moved to is told soon.
                usleep(Self.telling)
                if !isFolderGone(of: path) || followed() { return try saveNow() }
                try checkMount(now)
                try meetOthers(path)
                throw DocumentProblem.inConflict
            }
            try coordinate(now.path, .write, now.presentation) { place in
                let former = try fileState(place, now)
                guard now.knows(former) else {
                    if former == nil { throw Missing() }
                    try meetOthers(place)
                    throw DocumentProblem.inConflict
                }
                core.signal { ($0.known, $0.attempted) = (former, digest) }
                let file = try DocumentBytes.write(
                    bytes, digest: digest, to: place, isNew: former == nil,
                    isMounted: now.isMounted)
                core.signal { core in
                    (core.known, core.attempted) = (file, nil)
                    core.savedCount = now.changeCount
                    core.firstChange = core.lastChange
                    (core.error, core.retryTime) = (nil, nil)
                    core.setState(.savingError, false)
                    core.events.append(.saved)
                    // What others wrote at that moment was not told apart from this.
                    if core.presentation?.tellsApart != true {
                        let later = MonotonicClock.after(milliseconds: Self.settling)
                        core.lookTime = min(core.lookTime ?? .max, later)
                    }
                }
            }
        } catch DocumentProblem.inConflict {
            throw DocumentProblem.inConflict
        } catch is Missing {
            // Renamed just then, or removed; or its mount went away after it was looked for.
            usleep(Self.telling)
            if path != now.path || !isGone(now.path) || !isHere(now) || followed() {
                return try saveNow()
            }
            try meetOthers(now.path)
            throw DocumentProblem.inConflict
        } catch CoordinationError.claimLost {
            // It is written; whether others came in between shows.
            core.signal { $0.lookTime = MonotonicClock.now }
        } catch {
            core.signal { core in
                core.error = error
                core.retryTime = MonotonicClock.after(milliseconds: Self.pause)
                core.setState(.savingError, true)
            }
            throw error
        }
    }

    /// Milliseconds until the file's time has gone on since a save.
    private static var settling: UInt64 { 200 }

    /// Milliseconds until something is tried again that failed.
    static var pause: UInt64 { 2_000 }

    /// Microseconds until a move of the file has been told.
    private static var telling: UInt32 { 250_000 }

    /// Throws where the file's container is not mounted: its path is in another file system then.
    func checkMount(_ core: Core) throws {
        if isHere(core) { return }
        throw DocumentProblem.file("\(core.path): the container is not mounted")
    }

    /// Whether the file's container is mounted, and not another one there, if it has one. Folders above the
    /// file may be gone.
    private func isHere(_ core: Core) -> Bool {
        if !core.isMounted { return true }
        if core.identity?.isAnothers == true { return false }
        var path = core.path
        while path != "/" {
            if let place = try? ItemPlace(path) { return place.mountPoint != nil }
            path = path.parentPath
        }
        return false
    }

    /// There is no file where it was a moment ago.
    private struct Missing: Error {}

    private func isGone(_ path: String) -> Bool {
        access(path.cPath, F_OK) != 0 && [ENOENT, ENOTDIR].contains(Errno.last.code)
    }

    /// Whether the folder of a file is gone, and the file with it.
    private func isFolderGone(of path: String) -> Bool { isGone(path.parentPath) }

    /// What the file holds; `nil` if there is none. It is read only where it may have changed.
    private func fileState(_ path: String, _ core: Core) throws -> DocumentFileState? {
        if let known = core.known, known.isUnchanged(at: path, isMounted: core.isMounted) {
            return known
        }
        return try DocumentBytes.read(path)?.state
    }

    /// The file is another while there are changes: a conflict.
    private func meetOthers(_ path: String) throws {
        let theirs = try DocumentBytes.read(path)
        // The mount may have gone away after it was looked for.
        if theirs == nil { try checkMount(core.withLock { $0 }) }
        let contents = theirs.flatMap { try? Contents(contents: $0.bytes) }
        core.signal { core in
            core.known = theirs?.state
            core.setConflict(DocumentConflict(theirs: contents, isDeleted: theirs == nil))
        }
    }

    // MARK: Changes by others

    /// Looks whether others changed the file: loads it, or notes the conflict. In turn.
    func look() throws {
        let before = core.withLock { $0 }
        guard before.isOpen, before.disabled == 0 else { return }
        try checkMount(before)
        if before.known?.isUnchanged(at: before.path, isMounted: before.isMounted) == true {
            return core.signal { $0.foundKnown() }
        }
        // Nothing can be claimed there.
        if isFolderGone(of: before.path) { return try miss(at: before.path) }
        try coordinate(before.path, .readWithoutChanges, before.presentation) { place in
            guard let read = try DocumentBytes.read(place) else {
                return try miss(at: before.path)
            }
            core.signal { $0.misses = 0 }
            if before.knows(read.state), before.conflict == nil {
                return core.signal { core in
                    core.known = read.state
                    core.foundKnown()
                }
            }
            let contents = Swift.Result { try Contents(contents: read.bytes) }
            core.signal { core in
                core.known = read.state
                if case .success(let contents) = contents, !core.isUnsaved, core.conflict == nil {
                    core.load(contents, read.state)
                    core.foundInPlace()
                    undoManager.removeAll()
                } else {
                    if case .failure(let error) = contents {
                        core.error = error
                    } else if !core.state.contains(.savingError) {
                        core.error = nil
                    }
                    core.setConflict(
                        DocumentConflict(theirs: try? contents.get(), isDeleted: false))
                }
            }
        }
    }

    /// There is no file: the second time it counts as deleted. Not where its mount went away after it was
    /// looked for.
    private func miss(at place: String) throws {
        try checkMount(core.withLock { $0 })
        if followed() { return }
        let presentation = core.signal { core -> FilePresentation? in
            // It was moved meanwhile, and is looked at where it is.
            if core.path != place {
                core.lookTime = MonotonicClock.now
                return nil
            }
            core.misses += 1
            if core.misses == 1 {
                core.lookTime = MonotonicClock.after(milliseconds: 200)
                return nil
            }
            core.known = nil
            if core.isUnsaved || core.conflict != nil {
                core.setConflict(DocumentConflict(theirs: nil, isDeleted: true))
                return nil
            }
            return core.close()
        }
        presentation?.end()
    }

    /// Goes to where the document was moved while its mount was away, and is presented there; whether it was.
    private func followed() -> Bool {
        let now = core.withLock { $0 }
        guard now.wasAway, let path = now.identity?.path,
            !TrashFolder.isEntered(from: now.path, to: path)
        else { return false }
        let presentation = core.signal { core -> FilePresentation? in
            core.path = path
            core.events.append(.moved(to: path))
            core.attachTime = MonotonicClock.now
            return core.presentation.take()
        }
        presentation?.end()
        return true
    }

    /// Ends a conflict; does nothing where there is none.
    ///
    /// - Parameter seen: the ``conflict`` that was decided upon; `nil`: whichever there is.
    /// - Throws: `inConflict` if others wrote once more since it was seen, and why the contents could not be
    ///   written; there is a conflict, or something unsaved, still.
    public func resolve(
        _ resolution: DocumentResolution, of seen: DocumentConflict<Contents>? = nil
    ) throws {
        try inTurn {
            // It becomes another in turn only. Who writes from here on is met by the save.
            let now = core.withLock { $0.conflict }
            if let seen, let now, seen.digest != now.digest { throw DocumentProblem.inConflict }
            try settle(resolution)
        }
    }

    /// In turn.
    func settle(_ resolution: DocumentResolution) throws {
        while true {
            let now = core.withLock { $0 }
            guard let conflict = now.conflict, let contents = now.contents else { return }
            switch resolution {
            case .mine:
                core.signal { core in
                    core.setConflict(nil)
                    // It is to be written also if nothing was changed here.
                    if !core.isUnsaved { core.savedCount -= 1 }
                }
                return try saveNow()
            case .theirs: break
            case .both: try keep(contents, now)
            }
            // What was changed meanwhile is in no file yet.
            let isCurrent: (Core) -> Bool = {
                resolution == .theirs || $0.revision == now.revision
            }
            guard let theirs = conflict.theirs, let known = now.known else {
                if finish(if: isCurrent) { return }
                continue
            }
            let isDone = core.signal { core -> Bool in
                guard isCurrent(core) else { return false }
                core.setConflict(nil)
                core.load(theirs, known)
                undoManager.removeAll()
                return true
            }
            if isDone { return }
        }
    }

    /// Writes contents to a new file beside the document's.
    private func keep(_ contents: Contents, _ core: Core) throws {
        let bytes = try contents.contents()
        do throws(Failure) {
            let name = try ConflictCopy.keep(of: core.path, isMounted: isHere(core)) {
                (copy, mode) throws(Failure) in
                do throws(Errno) { try WholeFile.create(copy, bytes, mode: mode) } catch {
                    throw Failure(.cannotCreate, "\(copy): \(error)")
                }
            }
            self.core.signal { $0.events.append(.keptCopy(name)) }
        } catch { throw DocumentProblem.file(error.message) }
    }
}
