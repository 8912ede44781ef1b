internal import Catalog
internal import Coordination
internal import Model
internal import Pictures
internal import SystemCalls
internal import Thumbnailing

// The entries of all documents in a directory, or below one.
extension DesktopEntries {
    /// Names of a listed directory that are looked at before others have their turn.
    private static let listLimit = 1_000
    /// Documents below a moved directory whose entries are taken along.
    private static let treeLimit = 10_000

    /// Sees to the documents of a directory: those with pictures get entries, ours get pictures, and so do
    /// promises whose pictures are in the store.
    ///
    /// - Parameter cursor: that of the name before the first one.
    /// - Returns: the cursor to go on with; nil at the end.
    func list(_ directory: ItemNumber, after cursor: UInt64, _ pictures: VolumePictures) -> UInt64?
    {
        var last: UInt64?
        /// By the folder in whose listing they are seen.
        var links: [LinkedPaths.Path: [LinkedPaths.Path: ItemNumber]] = [:]
        var folders: [(path: LinkedPaths.Path, item: ItemNumber)] = []
        var symlinks: [(item: ItemNumber, target: [UInt8])] = []
        var unreadable: [PictureSubject] = []
        let documents = volume.state.withLock { state -> [(Named, hasOthers: Bool)] in
            let position = state.index.find(directory)
            guard position != 0, state.index[item: position].pointee.isDirectory,
                let path = state.index.path(of: position)
            else { return [] }
            // Each is one more for every promise, made while all wait.
            let others = otherPaths(of: position, state.index).prefix(Self.nameLimit)
            var found: [(Named, hasOthers: Bool)] = []
            var name = state.index.child(of: position, after: cursor)
            for _ in 0..<Self.listLimit where name != 0 {
                defer { name = state.index[name: name].pointee.next }
                last = state.index.cursor(name)
                let item = state.index[name: name].pointee.item
                let bytes = Array(state.index.nameBytes(name))
                let whole = (path.isEmpty ? [] : path + [47]) + bytes
                if state.index[item: item].pointee.isSymlink {
                    symlinks.append((state.number(item), Array(state.index.target(item))))
                    switch target(ofLinkAt: whole, state.index) {
                    case .promise(let promise): links[path, default: [:]][whole] = promise
                    case .folder(let folder): folders.append((whole, folder))
                    case nil: break
                    }
                }
                if let subject = state.pictureSubject(item, named: bytes),
                    !subject.type.end.isEmpty, !isTemporaryName(bytes)
                {
                    guard reader.mayRead(item, in: position, state.index) else {
                        unreadable.append(subject)
                        continue
                    }
                    let hasOthers = state.index[item: item].pointee.links > 1
                    if subject.isPromise {
                        for other in others {
                            links[other, default: [:]][other + [47] + bytes] = subject.item
                        }
                    }
                    found.append(
                        (Named(subject: subject, path: whole, isReadable: true), hasOthers))
                }
            }
            if name == 0 { last = nil }
            return found
        }
        noteUnreadable(unreadable)
        for (document, hasOthers) in documents {
            serveLookups(pictures)
            seeTo(document, hasOthers: hasOthers, pictures)
        }
        let linked = state.withLock { state in
            for (item, target) in symlinks { state.symlinks.add(item, to: target) }
            for (path, item) in folders { Self.add(path, to: item, &state) }
            return links.reduce(into: Set<ItemNumber>()) { items, folder in
                items.formUnion(
                    state.links.add(folder.value, of: folder.key, losses: state.losses))
            }
        }
        seeToLinked(linked, pictures)
        return last
    }

    /// Who looks a document up does not wait for all of a folder.
    func serveLookups(_ pictures: VolumePictures) {
        while let next = state.withLock({ $0.lookups.popLast() }) {
            seeTo(next.item, pictures)
            next.answer.make()
        }
    }

    /// Who looks a document up or lists a directory does not wait for all that is below a moved one.
    private func serveAll(_ pictures: VolumePictures) {
        while let awaited = state.withLock({ $0.ended ? nil : $0.takeAwaited() }) {
            look(at: awaited, pictures)
        }
    }

    /// Sees to a document by each of its names.
    func seeTo(_ item: ItemNumber, _ pictures: VolumePictures) {
        let names = names(of: item)
        for name in names
        where name.isReadable && !name.subject.type.end.isEmpty
            && !isTemporaryName(name.subject.fileName)
        {
            if seeTo(name, hasOthers: names.count > 1, pictures) { return }
        }
    }

    /// Sees to a document that can be read.
    ///
    /// - Parameter hasOthers: whether it has other names.
    /// - Returns: whether that was done for all of them.
    @discardableResult
    private func seeTo(_ document: Named, hasOthers: Bool, _ pictures: VolumePictures) -> Bool {
        let subject = document.subject
        let isSeenTo = state.withLock { state in
            state.ended || (state.losses == 0 && state.written[subject.document] == subject.node)
        }
        if isSeenTo { return true }
        guard let head = shelf.head(subject.node, subject.type) else {
            // A file manager opens what has no entry, and so brings the content of a promise.
            if subject.type.isOwn || subject.isPromise {
                pictures.ask(subject, isLasting: false, onlyStored: true)
            }
            standInOrMakeWay(document)
            return false
        }
        if !head.missing.isEmpty { pictures.ask(subject, isLasting: false) }
        if head.failure != nil {
            standInOrMakeWay(document)
            return false
        }
        if !hasOthers, Self.isWhole(subject, head), isThere(document, head) {
            remember(subject.document, subject.node)
        } else {
            write(subject.item)
        }
        return true
    }

    /// Whether the pictures that there are of a document are all that its entries show: without, others stand
    /// beside them.
    private static func isWhole(_ subject: PictureSubject, _ head: PictureFile) -> Bool {
        head.missing.isEmpty || !subject.isPromise
    }

    /// Whether a document has entries by all paths of that name.
    ///
    /// - Parameter head: what pictures there are of it.
    private func isThere(_ document: Named, _ head: PictureFile?) -> Bool {
        texts(document.path).allSatisfy {
            cache.isCurrent(.normal, of: facts($0, document.subject))
        } && hasLarger(document, head)
    }

    /// Whether it has the larger ones. They are written after the first, and not read: there was no room for
    /// them, or they are as current.
    private func hasLarger(_ document: Named, _ head: PictureFile?) -> Bool {
        let sizes = DesktopCache.Size.allCases.filter { size in
            PictureSize(rawValue: size.pixels).map { head?.places[$0] != nil } ?? false
        }
        return texts(document.path).allSatisfy { path in
            sizes.allSatisfy { cache.has($0, path: path) }
        }
    }

    /// A directory has another path: so do all documents below it.
    func moveTree(_ old: [UInt8], _ directory: ItemNumber, _ pictures: VolumePictures) {
        let (now, documents) = documents(below: directory)
        guard let now, now != old else { return }
        if documents.count == Self.treeLimit {
            // The others have lost theirs, and get others when somebody lists them or looks them up.
            state.withLock { $0.losses += 1 }
        }
        for document in documents {
            if state.withLock({ MonotonicClock.now >= $0.end }) { return }
            serveAll(pictures)
            removingOwn { move(document, from: old + document.path.dropFirst(now.count)) }
        }
    }

    /// A document has another path because a directory above it has.
    private func move(_ document: Named, from former: [UInt8]) {
        let head = shelf.head(document.subject.node, document.subject.type)
        let isFree = occupant(of: former) == nil
        let moved =
            if isFree, let head { takeAlong(document, head, from: former) } else {
                DesktopCache.Moved.nothing
            }
        if moved == .all { return }
        if Self.isDrawn(head) || !isFree {
            // Not taken along, but as they have to be now: some of them may be there already, and what is
            // at the former path may be of another document, after an exchange.
            clear(former)
            // Where the directory was renamed again before this was looked at, they are there.
            if moved == .part || !document.isReadable || !isThere(document, head) {
                write(document)
            }
            return
        }
        // Entries that others have made. If there are none, they may be there already: the
        // directory may have been renamed again before this was looked at. Ours are those of
        // another document, which was there in between.
        var had = false
        for (from, to) in zip(texts(former), texts(document.path)) {
            if cache.hasOthers(path: from) {
                try? cache.rename(path: from, to: to)
            } else {
                had = remove(from) || had
            }
        }
        if had { standIn(for: document) }
    }

    /// Gives the entries of a document to its new path; says whether they are all that it has to have there.
    private func takeAlong(
        _ document: Named, _ head: PictureFile, from former: [UInt8]
    ) -> DesktopCache.Moved {
        let subject = document.subject
        guard Self.isDrawn(head), document.isReadable, !isTemporaryName(subject.fileName),
            Self.isWhole(subject, head),
            !state.withLock({ $0.mayBeStoodFor(subject.document) })
        else { return .nothing }
        for (from, to) in zip(texts(former), texts(document.path)) {
            let moved = cache.move(path: from, to: to, of: facts(from, subject))
            if moved != .all { return moved }
        }
        guard hasLarger(document, head) else { return .part }
        remember(subject.document, subject.node)
        return .all
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
                    let path = (above.isEmpty ? [] : above + [47]) + bytes
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

    /// With a directory's attributes it may have changed what can be read below it. False for other items.
    func followRights(below directory: ItemNumber) -> Bool {
        let isDirectory = volume.state.withLock { state in
            let position = state.index.find(directory)
            return position != 0 && state.index[item: position].pointee.isDirectory
        }
        if !isDirectory || reader.isRoot { return isDirectory }
        for document in documents(below: directory).documents {
            if state.withLock({ MonotonicClock.now >= $0.end }) { break }
            guard isDrawn(document.subject) else {
                // A listing has seen it before, or what stands for its picture.
                let isSeen = state.withLock { $0.mayHaveEntries(document.subject.document) }
                if document.subject.isPromise, isSeen { write(document.subject.item) }
                continue
            }
            // By each of its paths there has to be one if it can be read, and by none if not.
            let isWrong = texts(document.path).contains { path in
                cache.isCurrent(.normal, of: facts(path, document.subject)) != document.isReadable
            }
            if isWrong { write(document.subject.item) }
        }
        return true
    }
}
