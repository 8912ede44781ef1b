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
    /// Documents of a listed directory that are looked at.
    private static let listLimit = 1_000
    /// Documents below a moved directory whose entries are taken along.
    private static let treeLimit = 10_000
    /// Names of a document that get entries; those of hard links.
    private static let nameLimit = 64
    /// Notes that wait; what comes to more is lost, and so are the entries' rights to be believed
    /// only as far as their times tell.
    private static let noteLimit = 65_536
    /// How long the thread looks at the end at what it has not come to, in milliseconds.
    private static let endPatience: UInt64 = 2_000
    /// Documents and directories of which it is remembered that they were looked at.
    private static let rememberedLimit = 100_000

    private let state = Monitor(DesktopNotes())
    private unowned let volume: Volume
    private let shelf: PictureShelf
    private let cache: DesktopCache
    private let mountPoint: String
    private let reader = DesktopReader()

    /// nil if the user has no home.
    init?(_ volume: Volume, _ shelf: PictureShelf, mountPoint: String) {
        guard let cache = DesktopCache.ofUser else { return nil }
        self.volume = volume
        self.shelf = shelf
        self.cache = cache
        self.mountPoint = mountPoint
    }

    func start(_ pictures: VolumePictures) {
        state.withLock { $0.done = false }
        Threads.start("desktop") { [self] in
            while let note = take() { look(at: note, pictures) }
            state.signal { $0.done = true }
        }
    }

    /// Ends the thread when it has seen to what is gone, but soon.
    func stop() {
        let answers = state.signal { state in
            state.ended = true
            state.end = MonotonicClock.after(milliseconds: Self.endPatience)
            state.keepLastNotes()
            defer { state.answers = [:] }
            return state.answers.values.flatMap { $0 }
        }
        for answer in answers { answer.make() }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.done ? true : nil
        }
    }

    private func take() -> DesktopNote? {
        state.wait { state -> DesktopNote?? in
            if state.ended {
                let isOver = state.next == state.notes.count || MonotonicClock.now >= state.end
                if isOver { return .some(nil) }
            } else if !state.directories.isEmpty {
                return .listed(state.directories.removeFirst())
            }
            guard state.next < state.notes.count else { return nil }
            let note = state.notes[state.next]
            state.next += 1
            if case .changed(let item) = note { state.changed.remove(item) }
            // Given up in large parts.
            if state.next == state.notes.count || state.next >= 1_024 {
                state.notes.removeFirst(state.next)
                state.next = 0
            }
            return note
        } ?? nil
    }

    // MARK: Notes

    /// The document's version, name or time is another one.
    ///
    /// - Parameter isOwn: whether it is likely to have a picture; others only if they had entries.
    func changed(_ item: ItemNumber, isOwn: Bool) {
        let isNew = state.withLock { state -> Bool in
            guard isOwn || state.written.contains(item), state.notes.count < Self.noteLimit,
                state.changed.insert(item).inserted
            else { return false }
            state.notes.append(.changed(item))
            return true
        }
        if isNew { state.signal { _ in } }
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
                guard state.notes.count < Self.noteLimit else { return }
                state.notes.append(.left(path, now: item, isDirectory: isDirectory))
                if isDirectory, let item { state.formerPaths.add(path, of: item) }
            }
        }
    }

    /// Somebody lists a directory. The first time, entries of its documents are seen to; `then` is
    /// called when those for which there are pictures are right, and the listing may begin, or at
    /// `end` (of `MonotonicClock`), whichever comes first. At once for directories that were listed.
    func listed(
        _ directory: ItemNumber, until end: UInt64, _ scheduler: Scheduler,
        then: @escaping @Sendable () -> Void
    ) {
        let answer = SingleCall(then)
        let waits = state.signal { state -> Bool in
            if state.ended || state.done { return false }
            if state.answers[directory] == nil {
                if state.listed.contains(directory) { return false }
                if state.listed.count >= Self.rememberedLimit { state.listed = [] }
                state.listed.insert(directory)
                state.directories.append(directory)
            }
            state.answers[directory, default: []].append(answer)
            return true
        }
        if waits { scheduler.at(end) { answer.make() } } else { answer.make() }
    }

    // MARK: Looking

    private func look(at note: DesktopNote, _ pictures: VolumePictures) {
        switch note {
        case .changed(let item): write(item)
        case .left(let path, let item, let isDirectory):
            if !isDirectory { return clear(path) }
            guard let item else { return }
            moveTree(path, item)
            state.withLock { $0.formerPaths.remove(path, of: item) }
        case .listed(let directory):
            list(directory, pictures)
            let answers = state.withLock { $0.answers.removeValue(forKey: directory) }
            for answer in answers ?? [] { answer.make() }
        }
    }

    /// A document by one of its names.
    private struct Named {
        var subject: PictureSubject
        /// From the mount's root.
        var path: [UInt8]
        /// Whether the user who mounted may read it by this name.
        var isReadable: Bool
    }

    private func names(of item: ItemNumber) -> [Named] {
        volume.state.withLock { state in
            let position = state.index.find(item)
            guard position != 0 else { return [] }
            var found: [Named] = []
            var name = state.index[item: position].pointee.firstName
            while name != 0, found.count < Self.nameLimit {
                let bytes = Array(state.index.nameBytes(name))
                let directory = state.index[name: name].pointee.parent
                if let subject = state.pictureSubject(position, named: bytes),
                    let above = state.index.path(of: directory)
                {
                    found.append(
                        Named(
                            subject: subject, path: (above.isEmpty ? [] : above + [47]) + bytes,
                            isReadable: reader.mayRead(position, in: directory, state.index)))
                }
                name = state.index[name: name].pointee.nextOfItem
            }
            return found
        }
    }

    /// Writes the entries of a document as they have to be now, by each of its names, or removes them.
    private func write(_ item: ItemNumber) {
        let names = names(of: item)
        var hasEntries = false
        for name in names {
            if write(name) { hasEntries = true }
        }
        if hasEntries {
            remember(item)
        } else if names.allSatisfy(\.isReadable) {
            // Others stay: when they can be read again, nothing but their attributes tells.
            state.withLock { _ = $0.written.remove(item) }
        }
    }

    /// The same for one name; whether it has entries now.
    private func write(_ name: Named) -> Bool {
        let (subject, path) = (name.subject, text(name.path))
        var entries: [DesktopCache.Size: [UInt8]] = [:]
        if name.isReadable, !isTemporaryName(subject.fileName) {
            for size in DesktopCache.Size.allCases {
                if let pixels = PictureSize(rawValue: size.pixels),
                    let bytes = shelf.bytes(subject.node, subject.type, pixels)
                {
                    entries[size] = bytes
                }
            }
        }
        if entries.isEmpty {
            try? cache.remove(path: path)
            return false
        }
        return (try? cache.write(entries, for: facts(path, subject))) != nil
    }

    private func facts(_ path: String, _ subject: PictureSubject) -> DesktopCache.Subject {
        let version = [
            volume.container.name, subject.node.fileName, String(PictureFile.revision),
        ]
        return DesktopCache.Subject(
            path: path, modified: subject.modified.seconds, size: subject.size,
            version: version.joined(separator: "/"))
    }

    private func remember(_ item: ItemNumber) {
        state.withLock { state in
            if state.written.count >= Self.rememberedLimit { state.written = [] }
            state.written.insert(item)
        }
    }

    /// Sees to the documents of a directory: those with pictures get entries, ours get pictures.
    private func list(_ directory: ItemNumber, _ pictures: VolumePictures) {
        let subjects = volume.state.withLock { state -> [(PictureSubject, [UInt8], Bool)] in
            let position = state.index.find(directory)
            guard position != 0, state.index[item: position].pointee.isDirectory,
                let path = state.index.path(of: position)
            else { return [] }
            var found: [(PictureSubject, [UInt8], Bool)] = []
            var name = state.index.child(of: position, after: 0)
            while name != 0, found.count < Self.listLimit {
                let item = state.index[name: name].pointee.item
                let bytes = Array(state.index.nameBytes(name))
                if let subject = state.pictureSubject(item, named: bytes),
                    !subject.type.end.isEmpty, !isTemporaryName(bytes),
                    reader.mayRead(item, in: position, state.index)
                {
                    let hasOthers = state.index[item: item].pointee.links > 1
                    found.append((subject, (path.isEmpty ? [] : path + [47]) + bytes, hasOthers))
                }
                name = state.index[name: name].pointee.next
            }
            return found
        }
        for (subject, bytes, hasOthers) in subjects {
            if state.withLock({ $0.ended || $0.written.contains(subject.item) }) { continue }
            guard let head = shelf.head(subject.node, subject.type) else {
                if subject.type.isOwn { pictures.ask(subject, isLasting: false) }
                continue
            }
            if !head.missing.isEmpty { pictures.ask(subject, isLasting: false) }
            if head.failure != nil { continue }
            if !hasOthers, cache.isCurrent(.normal, of: facts(text(bytes), subject)) {
                remember(subject.item)
            } else {
                write(subject.item)
            }
        }
    }

    /// A directory has another path: so do all documents below it.
    private func moveTree(_ old: [UInt8], _ directory: ItemNumber) {
        let (now, documents) = documents(below: directory)
        guard let now, now != old else { return }
        for document in documents {
            if state.withLock({ MonotonicClock.now >= $0.end }) { return }
            let former = old + document.path.dropFirst(now.count)
            if !isDrawn(document.subject), occupant(of: former) == nil {
                // Entries that others have made. If there are none, they may be there already: the
                // directory may have been renamed again before this was looked at. Ours are those of
                // another document, which was there in between.
                let (from, to) = (text(former), text(document.path))
                if cache.hasOthers(path: from) {
                    try? cache.rename(path: from, to: to)
                } else {
                    try? cache.remove(path: from)
                }
                continue
            }
            // Not taken along, but as they have to be now: some of them may be there already, and what is
            // at the former path may be of another document, after an exchange.
            clear(former)
            if write(document) { remember(document.subject.item) }
        }
    }

    /// A directory's path and what is below it; no path if it is gone.
    private func documents(below directory: ItemNumber) -> (now: [UInt8]?, documents: [Named]) {
        volume.state.withLock { state in
            let position = state.index.find(directory)
            guard position != 0, let now = state.index.path(of: position) else { return (nil, []) }
            var found: [Named] = []
            var rest: [(position: MemoryIndex.Position, path: [UInt8])] = [(position, now)]
            while let (folder, above) = rest.popLast(), found.count < Self.treeLimit {
                var name = state.index.child(of: folder, after: 0)
                while name != 0, found.count < Self.treeLimit {
                    let item = state.index[name: name].pointee.item
                    let bytes = Array(state.index.nameBytes(name))
                    let path = above + [47] + bytes
                    if state.index[item: item].pointee.isDirectory {
                        rest.append((item, path))
                    } else if let subject = state.pictureSubject(item, named: bytes) {
                        found.append(
                            Named(
                                subject: subject, path: path,
                                isReadable: reader.mayRead(item, in: folder, state.index)))
                    }
                    name = state.index[name: name].pointee.next
                }
            }
            return (now, found)
        }
    }

    private func isDrawn(_ subject: PictureSubject) -> Bool {
        guard let head = shelf.head(subject.node, subject.type) else { return false }
        return head.failure == nil
    }

    /// A path is not what it was: the entries go, or are those of what has it now.
    private func clear(_ path: [UInt8]) {
        try? cache.remove(path: text(path))
        if let other = occupant(of: path) { write(other) }
    }

    private func occupant(of path: [UInt8]) -> ItemNumber? {
        volume.state.withLock { state in
            let position = state.index.item(at: path)
            guard position != 0, state.index[item: position].pointee.isRegular else { return nil }
            return state.number(position)
        }
    }

    /// A path from the mount's root as file managers name it.
    private func text(_ path: [UInt8]) -> String { mountPoint + "/" + String(path: path) }
}
