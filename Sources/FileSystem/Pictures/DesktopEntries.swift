internal import Catalog
internal import Coordination
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls
internal import Thumbnailing

/// Keeps the thumbnail cache of the user who mounted right for the documents of a mount.
///
/// What changed is noted under any lock of level 3 or below and looked at on a thread of its own. A
/// note names what may be wrong, and what is right is found out when its turn comes; so it does not
/// matter what happens in between.
final class DesktopEntries: Sendable {
    /// How long the thread looks at the end at what it has not come to, in milliseconds.
    private static let endPatience: UInt64 = 2_000
    /// Documents and directories of which it is remembered that they were looked at.
    static let rememberedLimit = 100_000

    let state = Monitor(DesktopNotes())
    unowned let volume: Volume
    let shelf: PictureShelf
    let cache: DesktopCache
    let watch: DesktopCacheWatch?
    /// Whether entries are removed by ourselves at this moment.
    private let isRemoving = Lock(false)
    let mountPoints: [String]
    let reader = DesktopReader()
    /// Why the entries of a file could not be written; nil since others could be.
    let problem = Lock<Errno?>(nil)
    /// What file managers open, once that was asked.
    let thumbnailed = Lock<ThumbnailedTypes?>(nil)

    /// nil if the user has no home, or wants the cache left alone.
    ///
    /// - Parameter mountPoints: all paths of the mount that file managers use; none for a cache that is
    ///   left alone.
    init?(_ volume: Volume, _ shelf: PictureShelf, mountPoints: [String]) {
        guard !mountPoints.isEmpty, let cache = DesktopCache.ofUser else {
            DesktopPlaces(volume.container.folder).leaveRemnant()
            return nil
        }
        self.volume = volume
        self.shelf = shelf
        self.cache = cache
        self.mountPoints = mountPoints
        // Without it an emptied cache is put right in the next mount.
        watch = try? DesktopCacheWatch(cache)
    }

    func start(_ pictures: VolumePictures) {
        state.withLock { $0.done = false }
        removeLeftovers()
        Threads.start("desktop", keeping: volume) { [self] in
            watch?.follow()
            while let note = take() {
                look(at: note, pictures)
                watch?.follow()
            }
            let isLeft = state.withLock { $0.isUnfinished }
            if isLeft { DesktopPlaces(volume.container.folder).leaveRemnant() }
            state.signal { $0.done = true }
        }
    }

    /// Ends the thread when it has seen to what is gone, but soon.
    func stop() {
        let answers = state.signal { state in
            state.ended = true
            state.end = MonotonicClock.after(milliseconds: Self.endPatience)
            state.sortLastNotes()
            return state.takeAnswers()
        }
        for answer in answers { answer.make() }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.done && !$0.isSearching ? true : nil
        }
    }

    private func take() -> DesktopNote? {
        state.wait { state -> DesktopNote?? in
            if state.ended {
                let isOver = state.notes.isEmpty || MonotonicClock.now >= state.end
                if isOver { return .some(nil) }
            } else if let awaited = state.takeAwaited() {
                return awaited
            }
            guard let note = state.notes.take() else {
                if state.takeDoubt() { return .doubtedLinks }
                if let (directory, cursor) = state.unfinished.first {
                    return .further(directory, after: cursor)
                }
                if let path = state.strays.popLast() { return .stray(path) }
                defer { state.isSearched = false }
                return state.isSearched ? .searched : nil
            }
            if case .changed(let item) = note { state.changed.remove(item) }
            return note
        } ?? nil
    }

    func look(at note: DesktopNote, _ pictures: VolumePictures) {
        switch note {
        case .changed(let item):
            // Entries that there were none of are written when their directory is listed in another mount.
            if state.withLock({ $0.ended }), !hasEntries(item) { return }
            removingOwn { if !followRights(below: item) { write(item) } }
        case .doubtedLinks: checkLinks(pictures)
        case .placed(let item):
            followLink(item, pictures)
            state.withLock { $0.placed -= 1 }
        case .left(let path, let item, let isDirectory):
            if !isDirectory {
                removingOwn {
                    removeFolderLink(path)
                    clear(path, of: item)
                }
                // What has it now was looked at before, perhaps.
                if let other = occupant(of: path, \.isSymlink) { followLink(other, pictures) }
                return
            }
            guard let item else { return }
            moveTree(path, item, pictures)
            state.withLock { $0.formerPaths.remove(path, of: item) }
        case .lookedUp(let item, let answer):
            seeTo(item, pictures)
            answer.make()
        case .linked(let items, let answer):
            seeToLinked(items, pictures)
            answer.make()
        case .listed(let directory, let answer):
            let isFirst = state.withLock { state in
                if state.listed[directory] == state.losses { return false }
                if state.listed.count >= Self.rememberedLimit { state.listed = [:] }
                (state.listed[directory], state.unfinished[directory]) = (state.losses, 0)
                return true
            }
            if isFirst { goOn(directory, after: 0, pictures) }
            answer.make()
        case .further(let directory, let cursor): goOn(directory, after: cursor, pictures)
        case .stray(let path):
            removingOwn { if isStray(path) { remove(String(path: path)) } }
        case .searched: DesktopPlaces(volume.container.folder).settle(at: mountPoints)
        }
    }

    /// Sees to some documents of a directory, and notes whether there are more.
    private func goOn(
        _ directory: ItemNumber, after cursor: UInt64, _ pictures: VolumePictures
    ) {
        let next = list(directory, after: cursor, pictures)
        state.withLock { $0.unfinished[directory] = next }
    }

    /// Does what may remove entries, which tells nothing of others. Not for long: what others remove meanwhile is
    /// taken for its own.
    func removingOwn(_ body: () -> Void) {
        noteLosses(removing: true)
        body()
        isRemoving.withLock { isRemoving in
            _ = watch?.take()
            isRemoving = false
        }
    }

    /// Notes whether somebody else has removed entries since this was asked last. Without ``state``, for which the
    /// volume may wait: they may be many.
    ///
    /// - Parameter removing: what is removed from now on is not somebody else's.
    func noteLosses(removing: Bool = false) {
        let isLoss = isRemoving.withLock { isRemoving -> Bool in
            let isLoss = !isRemoving && watch?.take() == true
            if removing { isRemoving = true }
            return isLoss
        }
        if isLoss { state.withLock { $0.losses += 1 } }
    }
}
