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
    /// What the catalog said to questions.
    var answers: [Question: OriginRow?] = [:]
    /// Of folders that have another path now: where what is in them comes from.
    var contents: [ItemNumber: [OriginRow]] = [:]
    var stale = Volume.Stale()
    /// Contents that cannot be fetched any more.
    var forgotten: [ContentHash] = []
    /// Whether an entry was not taken over because the index has no room for it.
    var isFull = false
    /// Those that are on their way, or have come and are not taken among the blobs yet.
    var coming: Set<ContentHash> = []
    /// Whether the source has shown all: the entries are those that were put off.
    private let isLast: Bool

    /// What has to be asked of the catalog before an entry is taken: not under the volume's lock.
    enum Question: Error, Hashable {
        /// Where the item comes from.
        case item(ItemNumber)
        /// Which item had this path.
        case path([UInt8])
        /// Which item the source knows by this.
        case identity([UInt8])
        /// Where the item comes from, whichever source that is.
        case anySource(ItemNumber)
        /// Where all that is in the folder comes from.
        case contents(ItemNumber)
    }

    init(pass: ImportPass, caller: Caller, state: ImportPass.State, isLast: Bool = false) {
        self.pass = pass
        self.caller = caller
        self.state = state
        self.isLast = isLast
    }

    /// Takes an entry over. When it throws nothing has been done: with an answer it can be tried again.
    mutating func take(_ entry: ImportMessage.Entry, _ volume: VolumeState) throws(Question) {
        try takeReplacementBack(by: entry, volume)
        var directory = state.folders[entry.parent].map { volume.index.find($0) } ?? 0
        if directory != 0, volume.index[item: directory].pointee.links == 0 { directory = 0 }
        try take(entry, in: directory, volume)
        if !isLast { state.counts.shown += 1 }
    }

    /// - Parameter directory: 0 if the entry's folder is not here: it was removed, or something else has
    ///   its name. Then nothing is made, but what is known and is somewhere else here goes on to be the
    ///   source's.
    private mutating func take(
        _ entry: ImportMessage.Entry, in directory: MemoryIndex.Position, _ volume: VolumeState
    ) throws(Question) {
        let occupant = directory == 0 ? nil : try occupant(of: entry, directory, volume)
        switch try match(entry, directory, occupant, volume) {
        case .known(let origin): try follow(entry, origin, directory, occupant, volume)
        case .perhaps: state.late.append(entry)
        case .new where directory == 0: break
        case .new:
            let there = volume.name(Array(entry.name), in: directory)
            if there != 0, pass.follows, !isLast, !entry.isFolder {
                state.late.append(entry)
            } else if there != 0, entry.isFolder, try isOfOtherSource(there, volume) {
                state.counts.noteTaken(entry)
            } else {
                try make(entry, directory, occupant, volume)
            }
        }
    }

    // MARK: Which item it is

    private enum Match {
        case known(OriginRow)
        /// It is at the path of an item that may yet be shown elsewhere.
        case perhaps
        case new
    }

    /// The item that the entry tells of. A folder that is new in the place of another is taken for that
    /// one: what is in it cannot wait.
    private func match(
        _ entry: ImportMessage.Entry, _ directory: MemoryIndex.Position, _ occupant: OriginRow?,
        _ volume: VolumeState
    ) throws(Question) -> Match {
        if pass.isFirst { return .new }
        var there: OriginRow?
        if let path = state.formerPath(of: entry.path) {
            // Others may have come to that path in this run.
            there = occupant?.path == path ? occupant : try answer(.path(path))
        }
        if let row = there, isLeftBehind(row, directory, volume) || !isPossible(row, entry) {
            there = nil
        }
        // Several things may have one identity: each stays where it is.
        if let row = there, !row.identity.isEmpty, row.identity == entry.identity {
            return .known(row)
        }
        if !entry.identity.isEmpty, let row = try answer(.identity(entry.identity)),
            isPossible(row, entry)
        {
            return .known(row)
        }
        guard let row = there else { return .new }
        if !pass.follows { return .known(row) }
        guard isAlike(row, entry, volume) else { return .new }
        let isOther =
            !entry.isFolder && !entry.identity.isEmpty && !row.identity.isEmpty
            && row.identity != entry.identity
        return isOther && !isLast ? .perhaps : .known(row)
    }

    /// Whether the item is what stayed here of an object that went, and is in another folder by now:
    /// perhaps the one it was in is left behind too, and another one is where that was.
    private func isLeftBehind(
        _ row: OriginRow, _ directory: MemoryIndex.Position, _ volume: VolumeState
    ) -> Bool {
        let position = volume.index.find(row.item)
        guard row.isGone, let place = volume.firstPlace(position) else { return false }
        let isThere = directory != 0 && place.parent == volume.number(directory)
        return !isThere && place.parent != row.waitsAt?.parent
    }

    private func isPossible(_ row: OriginRow, _ entry: ImportMessage.Entry) -> Bool {
        !state.seen.contains(row.item) && row.tag.isEmpty == entry.isFolder
    }

    /// Whether the item can become what the entry tells of.
    private func isAlike(
        _ row: OriginRow, _ entry: ImportMessage.Entry, _ volume: VolumeState
    ) -> Bool {
        let position = volume.index.find(row.item)
        if position == 0 { return true }
        let isSymlink = volume.index[item: position].pointee.isSymlink
        guard case .symlink(let target) = entry.kind else { return !isSymlink }
        return isSymlink && volume.index.target(position).elementsEqual(target)
    }

    /// What taking an entry will ask, as far as that can be told.
    func questions(_ entry: ImportMessage.Entry) -> [Question] {
        var questions: [Question] = []
        if !entry.identity.isEmpty { questions.append(.identity(entry.identity)) }
        if let path = state.formerPath(of: entry.path) { questions.append(.path(path)) }
        return questions
    }

    func answer(_ question: Question) throws(Question) -> OriginRow? {
        guard let row = answers[question] else { throw question }
        return row
    }

    /// Whether the folder of this name comes from another source that it still follows: an item has one
    /// origin, and what was imported there could never be refreshed again.
    private func isOfOtherSource(
        _ there: MemoryIndex.Position, _ volume: VolumeState
    ) throws(Question) -> Bool {
        let position = volume.index[name: there].pointee.item
        guard volume.index[item: position].pointee.isDirectory,
            let row = try answer(.anySource(volume.number(position))), row.source != pass.root
        else { return false }
        return volume.index.find(row.source) != 0
    }

    // MARK: New ones

    mutating func make(
        _ entry: ImportMessage.Entry, _ directory: MemoryIndex.Position, _ occupant: OriginRow?,
        _ volume: VolumeState
    ) throws(Question) {
        let name = Array(entry.name)
        let there = volume.name(name, in: directory)
        if there != 0 {
            // A folder is taken for the source's; its contents mix.
            let position = volume.index[name: there].pointee.item
            let item = volume.number(position)
            if entry.isFolder, volume.index[item: position].pointee.isDirectory,
                !state.seen.contains(item)
            {
                if let occupant, occupant.path != entry.path {
                    try keepPlaces(in: occupant, volume)
                    state.formerly[item] = occupant.path
                }
                note(entry, item)
                volume.record(
                    .imported, position, at: VolumeState.now(),
                    [.putOrigin(origin(entry, item, nil))])
                return
            }
        }
        var target: [UInt8]?
        if case .symlink(let bytes) = entry.kind { target = bytes }
        isFull = !volume.index.hasRoom(name: name.count, target: target?.count)
        if isFull { return }
        var isRefused =
            VirtualTree.isTop(name, in: volume.number(directory).rawValue)
            || entry.isFolder && volume.index[item: directory].pointee.links >= Limits.links
        if !isRefused, there != 0 { isRefused = !setAside(occupant, directory, volume) }
        if isRefused {
            state.counts.noteTaken(entry)
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
                row.hash = Self.content(entry, pass.address)
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
        note(entry, item)
        if entry.isFolder, !pass.isFirst { state.formerly[item] = ImportPass.nowhere }
        stale.steps.append(
            volume.replayStep(.made(target: row.target ?? []), position, directory, name))
        state.counts.made += 1
        forget(directory, name, volume)
    }

    private mutating func note(_ entry: ImportMessage.Entry, _ item: ItemNumber) {
        state.seen.insert(item)
        if entry.isFolder { state.folders[entry.path] = item }
    }

    private func origin(
        _ entry: ImportMessage.Entry, _ item: ItemNumber, _ content: ContentHash?
    ) -> OriginRow {
        OriginRow(
            item: item, source: pass.root, path: entry.path, identity: entry.identity,
            tag: entry.tag, content: content)
    }

    /// What a content is called before its hash is known: the same in all folders that show the source.
    private static func content(_ entry: ImportMessage.Entry, _ address: String) -> ContentHash? {
        let size = Array(String(entry.size).utf8)
        let parts = [Array(address.utf8), entry.path, entry.identity, entry.tag, size]
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
        _ occupant: OriginRow?, _ volume: VolumeState
    ) throws(Question) {
        let position = volume.index.find(before.item)
        let isHere = position != 0 && volume.index[item: position].pointee.firstName != 0
        var moves =
            pass.follows && isHere
            && (state.formerPath(of: entry.path) != before.path || before.waitsAt != nil
                || volume.isAside(before.item, position))
        // Where somebody moved it here it stays.
        if moves { moves = try isAtItsPlace(position, before, or: directory, volume) }
        if pass.follows, isHere, entry.isFolder, entry.path != before.path {
            try keepPlaces(in: before, volume)
        }
        state.seen.insert(before.item)
        if entry.isFolder {
            state.folders[entry.path] = before.item
            if entry.path != before.path { state.formerly[before.item] = before.path }
        }
        guard pass.follows else { return }
        noteReplacement(entry, of: before)
        var origin = before
        origin.path = entry.path
        origin.identity = entry.identity
        origin.waitsAt = nil
        if moves, directory == 0 || !move(position, entry, directory, occupant, volume) {
            // It is the object of its new path all the same; the next refresh tries it again.
            settle(before, volume)
            origin.waitsAt = volume.firstPlace(position)
            if directory != 0 { state.counts.noteTaken(entry) }
        }
        if isHere, entry.tag != before.tag || volume.isOfOtherSize(position, before, entry) {
            if volume.isAsListed(position, before), replace(position, entry, &origin, volume) {
                origin.tag = entry.tag
                state.counts.changed += 1
            } else {
                state.counts.kept += 1
            }
        }
        guard origin != before else { return }
        let time = VolumeState.now()
        let effect = Effect.putOrigin(origin)
        if isHere {
            volume.record(.imported, position, at: time, [effect])
        } else {
            // Removed here: it does not come back, but what was in it may be somewhere else here.
            volume.log.append(
                Mutation(time: time, kind: .imported, item: before.item, effects: [effect]))
        }
    }

    /// Gives the item the content that the source has now, as a new version.
    private mutating func replace(
        _ position: MemoryIndex.Position, _ entry: ImportMessage.Entry, _ origin: inout OriginRow,
        _ volume: VolumeState
    ) -> Bool {
        let index = volume.index
        let record = index[item: position]
        if case .symlink(let target) = entry.kind, record.pointee.isSymlink {
            // Of another time, or another one: only what a target says is a symlink's content.
            guard index.target(position).elementsEqual(target) else { return false }
            let time = VolumeState.now()
            record.pointee.modified = (entry.modified ?? time).rawValue
            volume.stamp(position, time)
            stale.nodes.insert(record.pointee.node)
            return true
        }
        guard case .file = entry.kind, record.pointee.isRegular else { return false }
        let old = volume.content(position)
        for (parent, name) in volume.names(of: position) {
            stale.forget(NodeNumber(rawValue: parent), name, volume)
        }
        volume.retireCurrent(position)
        let time = volume.publishTime()
        record.pointee.ordinal = record.pointee.takeOrdinal()
        record.pointee.size = entry.size
        record.pointee.blocks = UInt32(clamping: Self.blocks(entry.size) / 8)
        record.pointee.modified = (entry.modified ?? time).rawValue
        origin.content = entry.size > 0 ? Self.content(entry, pass.address) : nil
        record.pointee.place = entry.size > 0 ? .elsewhere : .none
        record.pointee.hash = origin.content
        volume.stamp(position, time)
        var effects: [Effect] = [.putVersion(Self.version(index.row(position), time))]
        if old.place == .elsewhere, let name = old.hash, !coming.contains(name) {
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

    mutating func forget(
        _ directory: MemoryIndex.Position, _ name: [UInt8], _ volume: VolumeState
    ) {
        stale.forget(volume.index[item: directory].pointee.node, name, volume)
    }
}
