internal import Catalog
internal import Coordination
internal import Model
internal import Pictures
internal import SystemCalls

// The entries of promises by the paths of links: a file manager that shows those would bring the content of each
// to draw it.
extension DesktopEntries {
    /// Links to directories that are followed at most.
    private static let folderLinkLimit = 1_000
    /// Links that are looked at while others wait for the volume.
    private static let checkedAtOnce = 1_000

    /// Somebody lists a folder of links: those that lead to promises get entries. `then` is called when they
    /// have them, or at `end` (of `MonotonicClock`), whichever comes first.
    func listed(
        _ links: [LinkedPaths.Path: ItemNumber], in folder: LinkedPaths.Path, until end: UInt64,
        _ scheduler: Scheduler, then: @escaping @Sendable () -> Void
    ) {
        let answer = SingleCall(then)
        noteLosses()
        let waits = state.signal { state -> Bool in
            if state.ended || state.done { return false }
            let items = Self.set(links, of: folder, &state)
            if items.isEmpty || state.isCrowded { return false }
            state.awaited.append(.linked(items, answer))
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
        for path in gone where state.notes.count < DesktopNotes.limit {
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

    /// Sees to what a symlink leads to, where its directory was listed.
    ///
    /// - Parameter onlyNew: nothing is done where that is known to lead there.
    func followLink(_ item: ItemNumber, _ pictures: VolumePictures, onlyNew: Bool = false) {
        typealias Place = (directory: ItemNumber, path: LinkedPaths.Path, target: Target?)
        let found = volume.state.withLock { state -> (target: [UInt8], places: [Place])? in
            let position = state.index.find(item)
            guard position != 0, state.index[item: position].pointee.links > 0 else { return nil }
            let places = state.names(of: position).compactMap { name -> Place? in
                let directory = NodeNumber(rawValue: name.parent).item
                guard let above = state.index.path(of: state.index.find(directory)) else {
                    return nil
                }
                let path = (above.isEmpty ? [] : above + [47]) + name.name
                return (directory, path, target(ofLinkAt: path, state.index))
            }
            return (Array(state.index.target(position)), places)
        }
        guard let found else { return state.withLock { $0.symlinks.remove(item) } }
        for (directory, path, target) in found.places {
            let items = state.withLock { state -> Set<ItemNumber> in
                guard state.listed[directory] != nil else { return [] }
                state.symlinks.add(item, to: found.target)
                switch target {
                case .promise(let item):
                    return state.links.add(
                        [path: item], of: LinkedPaths.folder(of: path), losses: state.losses,
                        onlyNew: onlyNew)
                case .folder(let item):
                    Self.add(path, to: item, &state)
                    return []
                case nil: return []
                }
            }
            seeToLinked(items, pictures)
        }
    }

    /// The document by the paths of links. Under the volume's lock.
    ///
    /// - Parameter isReadable: whether the user may read it by any of its names.
    func linkedNames(of subject: PictureSubject, isReadable: Bool, _ index: MemoryIndex) -> [Named]
    {
        let ways = subject.isPromise ? paths(of: subject.item, throughFoldersIn: index) : []
        let paths = state.withLock { state in
            for path in ways {
                _ = state.links.add(
                    [path: subject.item], of: LinkedPaths.folder(of: path), losses: state.losses)
            }
            return state.links.paths(of: subject.item)
        }
        let leading = paths.filter { leads($0, to: subject.item, index) }
        let others = paths.subtracting(leading)
        forget(others)
        return leading.prefix(Self.nameLimit).map {
            Named(subject: subject, path: $0, isReadable: isReadable, isLink: true)
        }
    }

    /// Whether there is still a link: of those in virtual folders it is told when they go.
    private func leads(_ path: LinkedPaths.Path, to item: ItemNumber, _ index: MemoryIndex) -> Bool
    {
        let file = index.follow(path, of: mountPoints)
        if file == 0 { return path.starts(with: ".shapeedit/".utf8) }
        return index[item: file].pointee.number == item.rawValue
    }

    /// What a symlink leads to that matters here.
    enum Target {
        case promise(ItemNumber)
        case folder(ItemNumber)
    }

    /// Where the symlink at a path leads; `nil` if there is none, or it leads to something else. Under the
    /// volume's lock.
    func target(ofLinkAt path: LinkedPaths.Path, _ index: MemoryIndex) -> Target? {
        let found = index.follow(path, of: mountPoints)
        guard found != 0 else { return nil }
        let (record, item) = (
            index[item: found].pointee, ItemNumber(rawValue: index[item: found].pointee.number)
        )
        if record.isRegular { return record.place.isAway ? .promise(item) : nil }
        // Without a store or a source there are no promises.
        guard record.isDirectory, volume.link != nil || volume.sources != nil,
            let folder = index.path(of: found)
        else { return nil }
        // Within itself everything would be again.
        let isLoop = folder.isEmpty || path.starts(with: folder + [47])
        return isLoop ? nil : .folder(item)
    }

    /// A document's paths that lead through links to a directory above it. Under the volume's lock.
    private func paths(of item: ItemNumber, throughFoldersIn index: MemoryIndex)
        -> [LinkedPaths.Path]
    {
        if state.withLock({ $0.folderLinks.isEmpty }) { return [] }
        var found: [LinkedPaths.Path] = []
        var name = index[item: index.find(item)].pointee.firstName
        while name != 0, found.count < Self.nameLimit {
            let directory = index[name: name].pointee.parent
            let bytes = Array(index.nameBytes(name))
            found += otherPaths(of: directory, index).map { $0 + [47] + bytes }
            name = index[name: name].pointee.nextOfItem
        }
        return found
    }

    /// A directory's paths by links to it, or to one above it. Under the volume's lock.
    func otherPaths(of directory: MemoryIndex.Position, _ index: MemoryIndex)
        -> [LinkedPaths.Path]
    {
        guard let path = index.path(of: directory) else { return [] }
        return state.withLock { $0.folderLinks.others(than: path, in: directory, index) }
    }

    /// There is a link to a directory: promises in that have further paths when it is listed next.
    static func add(_ link: LinkedPaths.Path, to directory: ItemNumber, _ state: inout DesktopNotes)
    {
        guard state.folderLinks.count < folderLinkLimit,
            state.folderLinks.add(link, of: directory)
        else { return }
        // Or one below it. That they were listed counts for further links in them.
        state.listed = state.listed.mapValues { _ in DesktopNotes.listedBefore }
    }

    /// Links that lead elsewhere now: their entries go.
    private func forget(_ links: Set<LinkedPaths.Path>) {
        if links.isEmpty { return }
        let gone = links.flatMap { texts($0) }.map(\.pathBytes)
        state.withLock { state in
            for path in links { state.links.remove(path) }
            state.strays += gone
        }
    }

    /// Names have changed, or there are other promises: links may lead elsewhere.
    func checkLinks(_ pictures: VolumePictures) {
        let (known, symlinks) = state.withLock { ($0.links.all, $0.symlinks.items) }
        for start in stride(from: 0, to: known.count, by: Self.checkedAtOnce) {
            let part = known[start..<min(start + Self.checkedAtOnce, known.count)]
            let gone = volume.state.withLock { state in
                part.filter { !leads($0.path, to: $0.item, state.index) }
            }
            forget(Set(gone.map(\.path)))
        }
        for symlink in symlinks {
            if state.withLock({ $0.ended }) { return }
            serveLookups(pictures)
            followLink(symlink, pictures, onlyNew: true)
        }
    }

    /// A path may have been a link to a directory.
    func removeFolderLink(_ path: LinkedPaths.Path) {
        let gone = state.withLock { state in
            state.folderLinks.remove(path) ? state.links.removeAll(below: path) : []
        }
        for path in gone { clear(path) }
    }

    /// A document is gone: so are the entries by its links, though the folders have not been listed since.
    func removeLinked(_ item: ItemNumber) {
        let paths = state.withLock { state in
            let paths = state.links.paths(of: item)
            for path in paths { state.links.remove(path) }
            return paths
        }
        for path in paths { clear(path) }
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
