internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// What is below a folder that no container shows, and how it changes: inotify(7) says where to look.
///
/// Names of temporary files are no items. Symlinks are items and not followed. For one thread at a time.
final class FolderTree {
    /// A state of an item.
    struct Entry: Hashable {
        var stamp: FileStamp
        /// The bits of st_mode that say what it is.
        var kind: mode_t
        /// When it was made; 0 if its disk does not tell. The number of what was removed is soon another
        /// item's.
        var birth: UInt64
        var isFolder: Bool { kind == S_IFDIR }

        /// What is at the path; `nil` if nothing is.
        init?(_ path: String) {
            var status = stat()
            let name = path.cPath
            guard lstat(name, &status) == 0 else { return nil }
            stamp = FileStamp(status)
            kind = status.st_mode & S_IFMT
            birth = Directories.birthTime(name, in: AT_FDCWD)
        }

        /// What stays the same as long as it is the same item.
        struct Identity: Hashable {
            var device: UInt64
            var inode: UInt64
            var kind: mode_t
            var birth: UInt64
        }
        var identity: Identity {
            Identity(device: stamp.device, inode: stamp.inode, kind: kind, birth: birth)
        }

        func isSameItem(as other: Entry) -> Bool { identity == other.identity }
    }

    /// Absolute; is to be set when the folder was moved.
    var root: String
    /// The folder itself, as it was when it was gone through last.
    private var rootEntry: Entry?
    /// What is there is not known any more: everything is to be compared.
    private var isStale = false
    /// By their paths below the root.
    private(set) var entries = FolderEntries()
    private let inotify: Inotify
    /// The folders that are watched; the root is the empty path.
    private var folders = FolderWatches()

    /// What is asked of inotify for each folder.
    private static let bits =
        Int(IN_CREATE) | Int(IN_DELETE) | Int(IN_MOVED_FROM) | Int(IN_MOVED_TO)
        | Int(IN_CLOSE_WRITE)
        | Int(IN_ATTRIB) | Int(IN_ONLYDIR) | Int(IN_MOVE_SELF) | Int(IN_DELETE_SELF)

    /// Looks at all that is below a folder, and watches it.
    init(_ root: String, _ inotify: Inotify) throws(Errno) {
        self.root = root
        self.inotify = inotify
        rootEntry = Entry(root)
        var found: [PathKey: Entry] = [:]
        try scan(Self.top, into: &found)
        entries = FolderEntries(found)
    }

    /// The folder itself among the paths below it.
    private static let top = PathKey("")

    private func absolute(_ path: PathKey) -> String {
        path == Self.top ? root : root + "/" + path.text
    }

    /// Watches a folder and those below, and notes what is there. What goes meanwhile is no error, nor is what cannot
    /// be looked into.
    private func scan(_ folder: PathKey, into found: inout [PathKey: Entry]) throws(Errno) {
        var open = [folder]
        while let folder = open.popLast() {
            let names: [String]
            do throws(Errno) {
                // Watched before it is read, so that nothing is missed.
                folders[try inotify.watch(absolute(folder), Self.bits)] = folder
                names = try Directories.names(in: absolute(folder))
            } catch {
                // A mount that is dead says ENOTCONN, a broken disk EIO; what there is too little of is for all.
                let isShort = [ENOSPC, ENOMEM, EMFILE, ENFILE].contains(error.code)
                if folder == Self.top || isShort { throw error }
                continue
            }
            for name in names where !isTemporaryName(Array(name.utf8)) {
                let path = folder.appending(name)
                guard let entry = Entry(absolute(path)) else { continue }
                found[path] = entry
                if entry.isFolder { open.append(path) }
            }
        }
    }

    /// Whether the folder is still where it was.
    var isThere: Bool {
        guard let rootEntry, let now = Entry(root) else { return false }
        return now.isFolder && now.isSameItem(as: rootEntry)
    }

    /// Brings the entries up to date with what happened; how they changed, paths below the root.
    func follow(_ events: [Inotify.Event]) -> [SubitemChange] {
        if isStale || events.contains(where: \.tellsLoss) || !isThere { return lookAgain() }
        var touched: [PathKey] = []
        var seen: Set<PathKey> = []
        for event in events {
            if event.mask & UInt32(IN_IGNORED) != 0 {
                folders[event.watch] = nil
            } else if let folder = folders[event.watch], !event.name.isEmpty,
                !isTemporaryName(Array(event.name.utf8))
            {
                let path = folder.appending(event.name)
                if seen.insert(path).inserted { touched.append(path) }
            }
        }
        return compare(touched) { Entry(absolute($0)) }
    }

    /// The kernel lost events, or there is another folder: everything is compared.
    private func lookAgain() -> [SubitemChange] {
        // What is watched already keeps its watch, which others have too.
        folders = FolderWatches()
        let now = Entry(root)
        var found: [PathKey: Entry] = [:]
        // It may be on its way to another place.
        isStale = (try? scan(Self.top, into: &found)) == nil
        if isStale { return [] }
        rootEntry = now
        return compareAll(entries.below(Self.top), found)
    }

    private func compare(_ paths: [PathKey], _ now: (PathKey) -> Entry?) -> [SubitemChange] {
        var (gone, come): ([PathKey], [Arrival]) = ([], [])
        var changed: [PathKey] = []
        for path in paths {
            switch (entries[path], now(path)) {
            case (nil, nil): break
            case (_?, nil): gone.append(path)
            case (nil, let new?): come.append((path, new))
            case (let old?, let new?):
                if old.isSameItem(as: new) || !old.isFolder && !new.isFolder {
                    if old == new { break }
                    entries[path] = new
                    changed.append(path)
                } else {
                    gone.append(path)
                    come.append((path, new))
                }
            }
        }
        let moves = takeMoves(&gone, &come)
        // Each step is made here as it is told: who carries them out in their order has what there is.
        var all = carryOut(moves, &gone, &come)
        for path in gone {
            guard let entry = entries[path] else { continue }
            // Something else is there by now.
            if now(path)?.isSameItem(as: entry) ?? false { continue }
            remove(path)
            all.append(.deleted(path.text))
        }
        // What is in a new folder comes with it.
        for (path, entry) in come where entries[path] == nil { all += add(path, entry) }
        all += changed.filter { entries[$0] != nil }.map { .changed($0.text) }
        // While a folder was on its way, what happened in it was told of its old place.
        for move in moves where move.entry.isFolder { all += compareBelow(move.path, move.entry) }
        return all
    }

    typealias Move = (former: PathKey, path: PathKey, entry: Entry)
    private typealias Arrival = (path: PathKey, entry: Entry)

    /// What went and came has moved.
    private func takeMoves(_ gone: inout [PathKey], _ come: inout [Arrival]) -> [Move] {
        var formers: [Entry.Identity: [PathKey]] = [:]
        for path in gone.reversed() {
            if let entry = entries[path] { formers[entry.identity, default: []].append(path) }
        }
        var moves: [Move] = []
        come.removeAll { path, entry in
            guard let former = formers[entry.identity]?.popLast() else { return false }
            moves.append((former, path, entry))
            return true
        }
        let moved = Set(moves.map(\.former))
        gone.removeAll(where: moved.contains)
        return moves
    }

    /// Makes moves one after the other; those that cannot be made so go and come instead.
    private func carryOut(
        _ moves: [Move], _ gone: inout [PathKey], _ come: inout [Arrival]
    ) -> [SubitemChange] {
        var waiting = WaitingMoves(told(moves))
        var all: [SubitemChange] = []
        for (path, entry) in come
        where entry.isFolder && entries[path] == nil && hasFolder(path) && waiting.need(path) {
            all += add(path, entry) { !waiting.lead(to: $0) }
        }
        while let move = waiting.next(where: { hasFolder($0.path) }, isFolder: entries.hasFolder) {
            if entries[move.path] != nil {
                remove(move.path)
                all.append(.deleted(move.path.text))
            }
            attach(detach(move.former), at: move.path, move.entry)
            all.append(.moved(move.former.text, to: move.path.text))
        }
        for move in waiting.moves {
            gone.append(move.former)
            come.append((move.path, move.entry))
        }
        return all
    }

    /// Whether there is a folder for an item of this path.
    private func hasFolder(_ path: PathKey) -> Bool {
        let folder = path.folder
        return folder == Self.top || entries.hasFolder(folder)
    }

    /// Moves but for those of what went along with a folder.
    private func told(_ moves: [Move]) -> [Move] {
        var folders: [PathKey: PathKey] = [:]
        for move in moves where move.entry.isFolder { folders[move.former] = move.path }
        return moves.filter { move in
            var above = move.former.folder
            while above != Self.top {
                if let target = folders[above],
                    move.path == move.former.moved(from: above, to: target)
                {
                    return false
                }
                above = above.folder
            }
            return true
        }
    }

    private func compareBelow(_ folder: PathKey, _ entry: Entry) -> [SubitemChange] {
        var found: [PathKey: Entry] = [:]
        // It may be elsewhere again, which is told by then.
        guard Entry(absolute(folder))?.isSameItem(as: entry) == true,
            (try? scan(folder, into: &found)) != nil
        else { return [] }
        return compareAll(entries.below(folder), found)
    }

    private func compareAll(_ known: [PathKey], _ found: [PathKey: Entry]) -> [SubitemChange] {
        // A folder's times change with what is in it.
        for (path, entry) in found where entry.isFolder {
            if entries[path]?.isSameItem(as: entry) == true { entries[path] = entry }
        }
        return compare(Set(known).union(found.keys).sorted()) { found[$0] }
    }

    /// An item that is nowhere at the moment, with what is below it; paths as they were.
    private struct Branch {
        var top: PathKey
        var entries: [(path: PathKey, entry: Entry)] = []
        var folders: [(watch: Int32, path: PathKey)] = []
    }

    private func detach(_ path: PathKey) -> Branch {
        var branch = Branch(top: path)
        for place in [path] + entries.below(path) {
            if place != path, let entry = entries[place] { branch.entries.append((place, entry)) }
            entries[place] = nil
            for watch in folders.of(place) {
                folders[watch] = nil
                branch.folders.append((watch, place))
            }
        }
        return branch
    }

    private func attach(_ branch: Branch, at path: PathKey, _ entry: Entry) {
        entries[path] = entry
        for (below, entry) in branch.entries {
            entries[below.moved(from: branch.top, to: path)] = entry
        }
        for (watch, folder) in branch.folders {
            folders[watch] = folder.moved(from: branch.top, to: path)
        }
    }

    private func remove(_ path: PathKey) {
        // Folders may go on elsewhere, where they are none of ours.
        for watch in detach(path).folders.map(\.watch) { inotify.forget(watch) }
    }

    /// Notes a new item, and what is in it already but for what is left out.
    private func add(
        _ path: PathKey, _ entry: Entry, with isIncluded: (PathKey) -> Bool = { _ in true }
    ) -> [SubitemChange] {
        entries[path] = entry
        guard entry.isFolder else { return [.appeared(path.text)] }
        var found: [PathKey: Entry] = [:]
        // Where there are no more watches it is there, and what happens in it is not told.
        try? scan(path, into: &found)
        found = found.filter { entries[$0.key] == nil && isIncluded($0.key) }
        for (path, entry) in found { entries[path] = entry }
        return [.appeared(path.text)] + found.keys.sorted().map { .appeared($0.text) }
    }
}
