internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Takes the entries of one message over, one after the other. Used under the volume's lock.
struct ImportStep {
    let pass: ImportPass
    let caller: Caller
    var state: ImportPass.State
    /// For each entry the items that have its identity and its path, as the catalog knows them.
    var known: [(identity: OriginRow?, path: OriginRow?)] = []
    /// The folders in which items are here that have the identity of an entry.
    var parents: [ItemNumber: OriginRow] = [:]
    /// What the message has changed of them.
    private var amended: [ItemNumber: OriginRow] = [:]
    var stale = Volume.Stale()
    /// Contents that cannot be fetched any more.
    var forgotten: [ContentHash] = []

    init(pass: ImportPass, caller: Caller, state: ImportPass.State) {
        self.pass = pass
        self.caller = caller
        self.state = state
    }

    mutating func take(_ entry: ImportMessage.Entry, _ number: Int, _ volume: VolumeState) {
        state.counts.shown += 1
        guard let folder = state.folders[entry.parent] else { return }
        let directory = volume.index.find(folder)
        guard directory != 0, volume.index[item: directory].pointee.links > 0 else { return }
        if let origin = origin(of: entry, number) {
            follow(entry, origin, directory, volume)
        } else {
            make(entry, directory, volume)
        }
    }

    /// The item that the entry tells of; `nil` if there is none yet.
    private func origin(of entry: ImportMessage.Entry, _ number: Int) -> OriginRow? {
        guard number < known.count else { return nil }
        if let found = known[number].identity, !state.seen.contains(found.item) { return found }
        guard let found = known[number].path, !state.seen.contains(found.item) else { return nil }
        return found.tag.isEmpty == entry.isFolder ? found : nil
    }

    // MARK: New ones

    private mutating func make(
        _ entry: ImportMessage.Entry, _ directory: MemoryIndex.Position, _ volume: VolumeState
    ) {
        let name = Array(entry.name)
        let there = name.withUnsafeBytes { volume.index.lookup(directory, $0) }
        if there != 0 {
            // A folder is taken for the source's; its contents mix.
            let position = volume.index[name: there].pointee.item
            let item = volume.number(position)
            guard entry.isFolder, volume.index[item: position].pointee.isDirectory,
                !state.seen.contains(item)
            else {
                state.counts.inTheWay += 1
                return
            }
            note(entry, item, nil)
            volume.record(
                .imported, position, at: VolumeState.now(), [.putOrigin(origin(entry, item, nil))])
            return
        }
        let isTaken = volume.number(directory) == .root && name == Array(".shapeedit".utf8)
        if isTaken || entry.isFolder && volume.index[item: directory].pointee.links >= Limits.links
        {
            state.counts.inTheWay += 1
            return
        }
        let time = volume.publishTime()
        let item = ItemNumber(rawValue: volume.takeNumber())
        var row = ItemRow(
            number: item, mode: 0, user: caller.user, group: caller.group,
            links: entry.isFolder ? 2 : 1, modified: entry.modified ?? time, changed: time,
            accessed: time, document: DocumentID(rawValue: item.rawValue))
        var effects: [Effect] = []
        switch entry.kind {
        case .folder: row.mode = S_IFDIR | entry.mode
        case .symlink(let target):
            row.mode = S_IFLNK | 0o777
            row.target = target
            row.size = Int64(target.count)
        case .file:
            row.mode = S_IFREG | entry.mode
            if entry.size > 0 {
                row.hash = Self.content(entry, pass.root)
                row.place = .elsewhere
                row.size = entry.size
                row.blocks = Self.blocks(entry.size)
                row.ordinal = 1
                row.nextOrdinal = 2
                effects.append(.putVersion(Self.version(row, time)))
            }
        }
        let position = volume.index.insert(row)
        name.withUnsafeBytes { _ = volume.index.insertName(directory, $0, item: position) }
        if entry.isFolder { volume.index[item: directory].pointee.links += 1 }
        effects += [
            .putName(parent: volume.number(directory), name: name, item: item),
            volume.touch(directory, time), .putOrigin(origin(entry, item, row.hash)),
        ]
        volume.record(
            .created, position, parent: directory, name: name, process: caller.thread, at: time,
            effects)
        note(entry, item, row.hash)
        stale.steps.append(
            volume.replayStep(.made(target: row.target ?? []), position, directory, name))
        state.counts.made += 1
        forget(directory, name, volume)
    }

    private mutating func note(
        _ entry: ImportMessage.Entry, _ item: ItemNumber, _ content: ContentHash?
    ) {
        state.seen.insert(item)
        amended[item] = origin(entry, item, content)
        if entry.isFolder { state.folders[entry.path] = item }
    }

    private func origin(
        _ entry: ImportMessage.Entry, _ item: ItemNumber, _ content: ContentHash?
    ) -> OriginRow {
        OriginRow(
            item: item, source: pass.root, path: entry.path, identity: entry.identity,
            tag: entry.tag, content: content)
    }

    /// What a content is called before its hash is known.
    private static func content(_ entry: ImportMessage.Entry, _ root: ItemNumber) -> ContentHash? {
        let size = Array(String(entry.size).utf8)
        let parts = [
            Array(root.rawValue.description.utf8), entry.path, entry.identity, entry.tag, size,
        ]
        let digest = try? Hashing.sha256(Array("source".utf8) + parts.flatMap { [0] + $0 })
        return digest.flatMap { ContentHash(bytes: $0) }
    }

    /// 512-byte blocks, as a disk would need them.
    private static func blocks(_ size: Int64) -> Int64 { (size + 4095) / 4096 * 8 }

    private static func version(_ row: ItemRow, _ time: Timestamp) -> VersionRow {
        VersionRow(
            document: row.document, item: row.number, ordinal: row.ordinal, size: row.size,
            blocks: row.blocks, modified: row.modified, published: time, author: row.user,
            place: row.place, hash: row.hash)
    }

    // MARK: Those that are here

    private mutating func follow(
        _ entry: ImportMessage.Entry, _ before: OriginRow, _ directory: MemoryIndex.Position,
        _ volume: VolumeState
    ) {
        state.seen.insert(before.item)
        let position = volume.index.find(before.item)
        guard position != 0, volume.index[item: position].pointee.firstName != 0 else {
            // Removed here: it does not come back, and nothing that is in it.
            return
        }
        if entry.isFolder { state.folders[entry.path] = before.item }
        var origin = before
        if pass.follows {
            if entry.path != before.path, !move(position, entry, before, directory, volume) {
                state.counts.inTheWay += 1
            }
            origin.path = entry.path
            origin.identity = entry.identity
            if entry.tag != before.tag {
                if volume.isAsListed(position, before), replace(position, entry, &origin, volume) {
                    origin.tag = entry.tag
                    state.counts.changed += 1
                } else {
                    state.counts.kept += 1
                }
            }
        }
        guard origin != before else { return }
        amended[before.item] = origin
        volume.record(.imported, position, at: VolumeState.now(), [.putOrigin(origin)])
    }

    /// Moves the item to where the entry is, unless somebody moved it here; says whether that was
    /// possible.
    private mutating func move(
        _ position: MemoryIndex.Position, _ entry: ImportMessage.Entry, _ before: OriginRow,
        _ target: MemoryIndex.Position, _ volume: VolumeState
    ) -> Bool {
        let index = volume.index
        let found = index[item: position].pointee.firstName
        let source = index[name: found].pointee.parent
        let oldName = Array(index.nameBytes(found))
        let name = Array(entry.name)
        if source == target, oldName == name { return true }
        let folder = volume.number(source)
        let path =
            folder == pass.root ? [] : (amended[folder] ?? parents[folder])?.path ?? [0]
        guard index[name: found].pointee.nextOfItem == 0,
            oldName.elementsEqual(ImportMessage.Entry.name(before.path)),
            path == ImportMessage.Entry.parent(before.path) || path == entry.parent
        else { return true }
        guard name.withUnsafeBytes({ index.lookup(target, $0) }) == 0 else { return false }
        var above = target
        while above != 0 {
            if above == position { return false }
            above = index.parent(of: above)
        }
        let time = VolumeState.now()
        index.removeName(found)
        name.withUnsafeBytes { _ = index.insertName(target, $0, item: position) }
        if index[item: position].pointee.isDirectory, source != target {
            index[item: source].pointee.links -= 1
            index[item: target].pointee.links += 1
        }
        volume.stamp(position, time)
        volume.record(
            .renamed, position, parent: target, name: name, process: caller.thread, at: time,
            [
                .removeName(parent: folder, name: oldName),
                .putName(
                    parent: volume.number(target), name: name, item: volume.number(position)),
                volume.touch(source, time), volume.touch(target, time),
            ])
        let place = ReplayStep.Place(parent: volume.number(target), name: name)
        stale.steps.append(volume.replayStep(.moved(to: place), position, source, oldName))
        forget(source, oldName, volume)
        forget(target, name, volume)
        stale.nodes.insert(index[item: position].pointee.node)
        state.counts.changed += 1
        return true
    }

    /// Gives the item the content that the source has now, as a new version.
    private mutating func replace(
        _ position: MemoryIndex.Position, _ entry: ImportMessage.Entry, _ origin: inout OriginRow,
        _ volume: VolumeState
    ) -> Bool {
        let index = volume.index
        let record = index[item: position]
        guard case .file = entry.kind, record.pointee.isRegular else { return false }
        let old = volume.content(position)
        for name in volume.names(of: position) {
            stale.names.append(name)
            stale.nodes.insert(NodeNumber(rawValue: name.parent))
        }
        volume.retireCurrent(position)
        let time = volume.publishTime()
        let ordinal =
            record.pointee.nextOrdinal > NodeNumber.largestOrdinal ? 1 : record.pointee.nextOrdinal
        record.pointee.nextOrdinal = ordinal + 1
        record.pointee.ordinal = ordinal
        record.pointee.size = entry.size
        record.pointee.blocks = UInt32(clamping: Self.blocks(entry.size) / 8)
        record.pointee.modified = (entry.modified ?? time).rawValue
        origin.content = entry.size > 0 ? Self.content(entry, pass.root) : nil
        record.pointee.place = entry.size > 0 ? .elsewhere : .none
        record.pointee.hash = origin.content
        volume.stamp(position, time)
        var effects: [Effect] = [.putVersion(Self.version(index.row(position), time))]
        if old.place == .elsewhere, let name = old.hash {
            // Its bytes cannot be had any more.
            effects.append(.removeVersion(old.node.item, old.node.ordinal))
            forgotten.append(name)
        }
        volume.record(.published, position, process: caller.thread, at: time, effects)
        for (parent, name) in volume.names(of: position) {
            let above = index.find(NodeNumber(rawValue: parent).item)
            stale.steps.append(volume.replayStep(.written, position, above, name))
        }
        return true
    }

    private mutating func forget(
        _ directory: MemoryIndex.Position, _ name: [UInt8], _ volume: VolumeState
    ) {
        let node = volume.index[item: directory].pointee.node
        stale.nodes.insert(node)
        stale.names.append((node.rawValue, name))
    }
}
