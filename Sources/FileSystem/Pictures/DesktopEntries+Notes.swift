internal import Catalog
internal import Coordination
internal import Model
internal import SystemCalls
internal import Thumbnailing

// What is told of changes and of listings.
extension DesktopEntries {
    /// The document's version, name or time is another one.
    ///
    /// - Parameters:
    ///   - document: given if that matters only to a document that has entries, or had.
    func changed(_ item: ItemNumber, of document: DocumentID? = nil) {
        let isNew = state.withLock { state -> Bool in
            if let document, !state.mayHaveEntries(document) { return false }
            guard state.makeRoom(), state.changed.insert(item).inserted else { return false }
            state.notes.append(.changed(item))
            return true
        }
        if isNew { state.signal { _ in } }
    }

    /// What has the entries of a document is another one from now on. Under the volume's lock.
    func renumbered(_ document: DocumentID, _ other: DocumentID) {
        state.withLock { state in
            if let version = state.written[document] { state.written[other] = version }
        }
    }

    /// A symlink is new, or has another path.
    func placed(_ symlink: ItemNumber) {
        state.signal { state in
            guard state.makeRoom() else { return }
            state.awaited.append(.placed(symlink))
            state.placed += 1
        }
    }

    /// Names have come and gone. Under the volume's lock.
    func renamed(_ effects: [Effect], isDirectory: Bool) {
        state.withLock { state in
            if isDirectory { state.doubtAllLinks() }
            for effect in effects {
                switch effect {
                case .removeName(_, let name), .putName(_, let name, _, _):
                    state.doubtLinks(by: name)
                default: break
                }
            }
        }
    }

    /// A name in a directory is not the item's any more. Under the volume's lock.
    func left(
        _ name: [UInt8], in directory: MemoryIndex.Position, _ index: MemoryIndex,
        now item: ItemNumber?, isDirectory: Bool
    ) {
        guard var path = index.path(of: directory) else { return }
        if !path.isEmpty { path.append(UInt8(ascii: "/")) }
        path += name
        state.signal { state in
            // Its entries are still where a directory above it was, if nobody has looked since.
            for path in [path] + state.formerPaths.others(than: path, in: directory, index) {
                guard state.makeRoom() else { return }
                state.notes.append(.left(path, now: item, isDirectory: isDirectory))
                if isDirectory, let item { state.formerPaths.add(path, of: item) }
            }
        }
    }

    /// Somebody lists a directory. The first time, and the first time after somebody has removed entries
    /// from the cache, entries of its documents are seen to; `then` is called when those for which there
    /// are pictures are right, and the listing may begin, or at `end` (of `MonotonicClock`), whichever
    /// comes first. At once for directories that were listed.
    func listed(
        _ directory: ItemNumber, until end: UInt64, _ scheduler: Scheduler,
        then: @escaping @Sendable () -> Void
    ) {
        let answer = SingleCall(then)
        noteLosses()
        let waits = state.signal { state -> Bool in
            if state.ended || state.done || state.hasSeenTo(directory) { return false }
            if state.isCrowded { return false }
            state.awaited.append(.listed(directory, answer))
            return true
        }
        if waits { scheduler.at(end) { answer.make() } } else { answer.make() }
    }

    /// Whether all documents of a directory were seen to when it was listed.
    func hasListed(_ directory: ItemNumber) -> Bool {
        state.withLock { $0.hasSeenTo(directory) && $0.unfinished[directory] == nil }
    }

    /// Somebody looks a document up in a directory that was not listed, or not all of which was seen to. The
    /// first time its entries are seen to; `then` is called when they are right, or at `end` (of
    /// `MonotonicClock`), whichever comes first.
    func lookedUp(
        _ document: ItemNumber, until end: UInt64, _ scheduler: Scheduler,
        then: @escaping @Sendable () -> Void
    ) {
        let answer = SingleCall(then)
        let waits = state.signal { state -> Bool in
            if state.ended || state.done || state.lookedUp[document] == state.losses {
                return false
            }
            if state.lookedUp.count >= Self.rememberedLimit { state.lookedUp = [:] }
            state.lookedUp[document] = state.losses
            state.lookups.append((document, answer))
            return true
        }
        if waits { scheduler.at(end) { answer.make() } } else { answer.make() }
    }
}
