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
            let (items, gone) = state.links.set(links, of: folder, losses: state.losses)
            for path in gone where state.notes.count < Self.noteLimit {
                state.notes.append(.left(path, now: nil, isDirectory: false))
            }
            if items.isEmpty { return false }
            state.linked.append((items, answer))
            return true
        }
        if waits { scheduler.at(end) { answer.make() } } else { answer.make() }
    }

    /// The document by the paths of links. Under the volume's lock.
    ///
    /// - Parameter isReadable: whether the user may read it by any of its names.
    func linkedNames(of subject: PictureSubject, isReadable: Bool, _ index: MemoryIndex) -> [Named]
    {
        state.withLock { $0.links.paths(of: subject.item) }
            .filter { leads($0, to: subject.item, index) }
            .map { Named(subject: subject, path: $0, isReadable: isReadable, isLink: true) }
    }

    /// Whether there is still a link: of those in virtual folders it is told when they go.
    private func leads(_ path: LinkedPaths.Path, to item: ItemNumber, _ index: MemoryIndex) -> Bool
    {
        let link = index.item(at: path)
        if link == 0 { return path.starts(with: ".shapeedit/".utf8) }
        let folder = path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
        guard index[item: link].pointee.isSymlink else { return false }
        let file = index.file(ledToBy: link, in: Array(folder), of: mountPoints)
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
    /// - Parameter links: their names, and the paths that they lead to.
    func whenPictured(
        links: [(name: [UInt8], target: [UInt8])], in folder: [UInt8],
        then: @escaping @Sendable () -> Void
    ) {
        guard let pictures, let desktop = pictures.desktop else { return then() }
        let promised = state.withLock { state in
            var found: [LinkedPaths.Path: ItemNumber] = [:]
            for link in links.prefix(LinkedPaths.mostOfFolder) {
                let position = state.index.item(at: link.target)
                guard position != 0, state.index[item: position].pointee.isRegular,
                    state.index[item: position].pointee.place.isAway
                else { continue }
                found[folder + [UInt8(ascii: "/")] + link.name] = state.number(position)
            }
            return found
        }
        desktop.listed(
            promised, in: folder, until: MonotonicClock.after(milliseconds: pictures.patience),
            scheduler, then: then)
    }
}
