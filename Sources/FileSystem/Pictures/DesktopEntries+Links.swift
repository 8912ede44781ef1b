internal import Catalog
internal import Coordination
internal import Model
internal import Pictures
internal import SystemCalls

// The entries of promises by the paths of links: a file manager that shows those would bring the content of each
// to draw it.
extension DesktopEntries {
    /// Somebody lists a folder of links: those that lead to promises get entries. `then` is called when they
    /// have them, or at `end` (of `MonotonicClock`), whichever comes first.
    func listed(
        _ links: [LinkedPaths.Path: ItemNumber], in folder: LinkedPaths.Path, until end: UInt64,
        _ scheduler: Scheduler, then: @escaping @Sendable () -> Void
    ) {
        let answer = SingleCall(then)
        let hasLosses = losses?.take() == true
        let waits = state.signal { state -> Bool in
            if state.ended || state.done { return false }
            if hasLosses { state.losses += 1 }
            let items = Self.set(links, of: folder, &state)
            if items.isEmpty { return false }
            state.linked.append((items, answer))
            return true
        }
        if waits { scheduler.at(end) { answer.make() } } else { answer.make() }
    }

    /// A folder of links is gone.
    func left(folder: LinkedPaths.Path) {
        state.signal { state in _ = Self.set([:], of: folder, &state) }
    }

    /// - Returns: documents that are to be seen to.
    private static func set(
        _ links: [LinkedPaths.Path: ItemNumber], of folder: LinkedPaths.Path,
        _ state: inout DesktopNotes
    ) -> Set<ItemNumber> {
        let (items, gone) = state.links.set(links, of: folder, losses: state.losses)
        for path in gone where state.notes.count < noteLimit {
            state.notes.append(.left(path, now: nil, isDirectory: false))
        }
        return items
    }

    /// Documents that links lead to which are new.
    func seeToLinked(_ items: Set<ItemNumber>, _ pictures: VolumePictures) {
        for item in items {
            if state.withLock({ $0.ended }) { return }
            serveLookups(pictures)
            seeTo(item, pictures)
            write(item)
        }
    }

    /// Sees to the promise that a symlink leads to, where its directory was listed. False for other items.
    func followLink(_ item: ItemNumber, _ pictures: VolumePictures) -> Bool {
        let (isLink, found) = volume.state.withLock {
            state -> (Bool, [(directory: ItemNumber, path: LinkedPaths.Path, target: ItemNumber)])
            in
            let position = state.index.find(item)
            guard position != 0, state.index[item: position].pointee.isSymlink else {
                return (false, [])
            }
            let names = state.names(of: position).compactMap {
                name -> (directory: ItemNumber, path: LinkedPaths.Path, target: ItemNumber)? in
                let directory = NodeNumber(rawValue: name.parent).item
                guard let above = state.index.path(of: state.index.find(directory)),
                    let target = promise(ledToBy: position, in: above, state.index)
                else { return nil }
                return (directory, (above.isEmpty ? [] : above + [47]) + name.name, target)
            }
            return (true, names)
        }
        for (directory, path, target) in found {
            let items = state.withLock { state -> Set<ItemNumber> in
                guard state.listed[directory] != nil else { return [] }
                return state.links.add(
                    [path: target], of: LinkedPaths.folder(of: path), losses: state.losses)
            }
            seeToLinked(items, pictures)
        }
        return isLink
    }

    /// The document by the paths of links. Under the volume's lock.
    ///
    /// - Parameter isReadable: whether the user may read it by any of its names.
    func linkedNames(of subject: PictureSubject, isReadable: Bool, _ index: MemoryIndex) -> [Named]
    {
        let paths = state.withLock { $0.links.paths(of: subject.item) }
        let leading = paths.filter { leads($0, to: subject.item, index) }
        let others = paths.subtracting(leading)
        if !others.isEmpty { state.withLock { state in others.forEach { state.links.remove($0) } } }
        return leading.prefix(Self.nameLimit).map {
            Named(subject: subject, path: $0, isReadable: isReadable, isLink: true)
        }
    }

    /// Whether there is still a link: of those in virtual folders it is told when they go.
    private func leads(_ path: LinkedPaths.Path, to item: ItemNumber, _ index: MemoryIndex) -> Bool
    {
        let link = index.item(at: path)
        if link == 0 { return path.starts(with: ".shapeedit/".utf8) }
        guard index[item: link].pointee.isSymlink else { return false }
        let folder = LinkedPaths.folder(of: path)
        let file = index.file(ledToBy: link, in: folder, of: mountPoints)
        return file != 0 && index[item: file].pointee.number == item.rawValue
    }

    /// The promise that a symlink leads to; `nil` for all else. Under the volume's lock.
    func promise(
        ledToBy link: MemoryIndex.Position, in folder: LinkedPaths.Path, _ index: MemoryIndex
    ) -> ItemNumber? {
        guard index[item: link].pointee.isSymlink else { return nil }
        let file = index.file(ledToBy: link, in: folder, of: mountPoints)
        guard file != 0, index[item: file].pointee.place.isAway else { return nil }
        return ItemNumber(rawValue: index[item: file].pointee.number)
    }

    /// A document is gone: so are the entries by its links, though the folders have not been listed since.
    func removeLinked(_ item: ItemNumber) {
        for path in state.withLock({ $0.links.paths(of: item) }) { clear(path) }
    }
}

extension Volume {
    /// Calls `then` when file managers find what there is of pictures of the promises that links in a
    /// virtual folder lead to, or when that takes too long.
    ///
    /// - Parameter links: their names, and the paths that they lead to; a few thousand at most.
    func whenPictured(
        links: [(name: [UInt8], target: [UInt8])], in folder: [UInt8],
        then: @escaping @Sendable () -> Void
    ) {
        guard let pictures, let desktop = pictures.desktop else { return then() }
        var promised: [LinkedPaths.Path: ItemNumber] = [:]
        for start in stride(from: 0, to: links.count, by: Self.linksAtOnce) {
            state.withLock { state in
                for link in links[start..<min(start + Self.linksAtOnce, links.count)] {
                    let position = state.index.item(at: link.target)
                    guard position != 0, state.index[item: position].pointee.isRegular,
                        state.index[item: position].pointee.place.isAway
                    else { continue }
                    promised[folder + [UInt8(ascii: "/")] + link.name] = state.number(position)
                }
            }
        }
        desktop.listed(
            promised, in: folder, until: MonotonicClock.after(milliseconds: pictures.patience),
            scheduler, then: then)
    }

    /// Links that are looked at in one hold of the lock.
    private static let linksAtOnce = 256

    /// Whether file managers have to find pictures of promises that links lead to.
    var hasPicturedPromises: Bool {
        pictures?.desktop != nil && (link != nil || sources?.isInUse == true)
    }
}
