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
        var isFolder: Bool { kind == S_IFDIR }

        /// What is at the path; `nil` if nothing is.
        init?(_ path: String) {
            var status = stat()
            guard lstat(path.cPath, &status) == 0 else { return nil }
            stamp = FileStamp(status)
            kind = status.st_mode & S_IFMT
        }

        func isSameItem(as other: Entry) -> Bool {
            stamp.inode == other.stamp.inode && stamp.device == other.stamp.device
        }
    }

    /// Absolute; is to be set when the folder was moved.
    var root: String
    /// By their paths below the root.
    private(set) var entries: [String: Entry] = [:]
    private let inotify: Inotify
    /// The folders that are watched, by their watches; the root is the empty path.
    private var folders: [Int32: String] = [:]

    /// What is asked of inotify for each folder.
    private static let bits =
        Int(IN_CREATE) | Int(IN_DELETE) | Int(IN_MOVED_FROM) | Int(IN_MOVED_TO)
        | Int(IN_CLOSE_WRITE)
        | Int(IN_ATTRIB) | Int(IN_ONLYDIR)

    /// Looks at all that is below a folder, and watches it.
    init(_ root: String, _ inotify: Inotify) throws(Errno) {
        self.root = root
        self.inotify = inotify
        var found: [String: Entry] = [:]
        try scan("", into: &found)
        entries = found
    }

    private func absolute(_ path: String) -> String { path.isEmpty ? root : root + "/" + path }

    /// Watches a folder and those below, and notes what is there. What goes meanwhile is no error.
    private func scan(_ folder: String, into found: inout [String: Entry]) throws(Errno) {
        var open = [folder]
        while let folder = open.popLast() {
            let names: [String]
            do throws(Errno) {
                // Watched before it is read, so that nothing is missed.
                folders[try inotify.watch(absolute(folder), Self.bits)] = folder
                names = try Directories.names(in: absolute(folder))
            } catch {
                if folder.isEmpty || ![ENOENT, ENOTDIR, EACCES].contains(error.code) {
                    throw error
                }
                continue
            }
            for name in names where !isTemporaryName(Array(name.utf8)) {
                let path = folder.isEmpty ? name : folder + "/" + name
                guard let entry = Entry(absolute(path)) else { continue }
                found[path] = entry
                if entry.isFolder { open.append(path) }
            }
        }
    }

    /// Brings the entries up to date with what happened; how they changed, paths below the root.
    func follow(_ events: [Inotify.Event]) -> [SubitemChange] {
        if events.contains(where: \.tellsLoss) { return lookAgain() }
        var touched: [String] = []
        var seen: Set<String> = []
        for event in events {
            if event.mask & UInt32(IN_IGNORED) != 0 {
                folders[event.watch] = nil
            } else if let folder = folders[event.watch], !event.name.isEmpty,
                !isTemporaryName(Array(event.name.utf8))
            {
                let path = folder.isEmpty ? event.name : folder + "/" + event.name
                if seen.insert(path).inserted { touched.append(path) }
            }
        }
        return compare(touched) { Entry(absolute($0)) }
    }

    /// The kernel lost events: everything is compared.
    private func lookAgain() -> [SubitemChange] {
        // What is watched already keeps its watch, which others have too.
        folders = [:]
        var found: [String: Entry] = [:]
        guard (try? scan("", into: &found)) != nil else { return [] }
        return compare(Set(entries.keys).union(found.keys).sorted()) { found[$0] }
    }

    private func compare(_ paths: [String], _ now: (String) -> Entry?) -> [SubitemChange] {
        var (gone, come): ([String], [(path: String, entry: Entry)]) = ([], [])
        var changes: [SubitemChange] = []
        for path in paths {
            switch (entries[path], now(path)) {
            case (nil, nil): break
            case (_?, nil): gone.append(path)
            case (nil, let new?): come.append((path, new))
            case (let old?, let new?):
                if old.isSameItem(as: new) || !old.isFolder && !new.isFolder {
                    if old == new { break }
                    entries[path] = new
                    changes.append(.changed(path))
                } else {
                    gone.append(path)
                    come.append((path, new))
                }
            }
        }
        var moves: [SubitemChange] = []
        come.removeAll { path, entry in
            guard
                let index = gone.firstIndex(where: { entries[$0]?.isSameItem(as: entry) ?? false })
            else { return false }
            let former = gone.remove(at: index)
            move(former, to: path, entry)
            moves.append(.moved(former, to: path))
            return true
        }
        var ends: [SubitemChange] = []
        for path in gone where entries[path] != nil {
            remove(path)
            ends.append(.deleted(path))
        }
        var arrivals: [SubitemChange] = []
        for (path, entry) in come { arrivals += add(path, entry) }
        return ends + moves + arrivals + changes
    }

    private func isBelow(_ path: String, _ folder: String) -> Bool { path.hasPrefix(folder + "/") }

    private func move(_ former: String, to path: String, _ entry: Entry) {
        entries[former] = nil
        entries[path] = entry
        guard entry.isFolder else { return }
        for (below, entry) in entries where isBelow(below, former) {
            entries[below] = nil
            entries[path + below.dropFirst(former.count)] = entry
        }
        for (watch, folder) in folders where folder == former || isBelow(folder, former) {
            folders[watch] = path + folder.dropFirst(former.count)
        }
    }

    private func remove(_ path: String) {
        let isFolder = entries.removeValue(forKey: path)?.isFolder ?? false
        guard isFolder else { return }
        for below in entries.keys where isBelow(below, path) { entries[below] = nil }
        for (watch, folder) in folders where folder == path || isBelow(folder, path) {
            // It may go on elsewhere, which is none of ours.
            inotify.forget(watch)
            folders[watch] = nil
        }
    }

    /// Notes a new item, and what is in it already.
    private func add(_ path: String, _ entry: Entry) -> [SubitemChange] {
        entries[path] = entry
        guard entry.isFolder else { return [.appeared(path)] }
        var found: [String: Entry] = [:]
        // Where there are no more watches it is there, and what happens in it is not told.
        try? scan(path, into: &found)
        entries.merge(found) { $1 }
        return [.appeared(path)] + found.keys.sorted().map { .appeared($0) }
    }
}
