internal import Glibc
internal import PathText
internal import SystemCalls

/// One item outside of containers, or in the mount of another user, wherever it goes: inotify(7) says when to
/// look, and a descriptor of the item where it is by then. In a mount that would keep the owner from unmounting:
/// there it is searched for. For one thread at a time.
final class FollowedItem {
    /// What happened to it.
    enum Change: Hashable {
        case changed
        case moved(String)
        case deleted
    }

    /// How long its name may be missing while a program saves it, in milliseconds.
    static let grace: UInt64 = 100

    /// Absolute.
    private(set) var path: String
    private let inotify: Inotify
    private let isMounted: Bool
    private var entry: FolderTree.Entry?
    /// Opened with O_PATH; none while there is no item, and in a mount.
    private var item: OwnedDescriptor?
    /// The item's watch, that of its folder, and those of the folders above.
    private var watches: (item: Int32, folder: Int32, above: [Int32]) = (-1, -1, [])
    /// Since when the name is missing (monotonic nanoseconds).
    private(set) var missing: UInt64?

    init(_ path: String, _ inotify: Inotify, isMounted: Bool) throws(Errno) {
        self.path = path
        self.inotify = inotify
        self.isMounted = isMounted
        try watchFolders()
        take()
    }

    private func watchFolders() throws(Errno) {
        var folder = path.parentPath
        watches.folder = try inotify.watch(
            folder,
            Int(IN_CREATE) | Int(IN_DELETE) | Int(IN_MOVED_FROM) | Int(IN_MOVED_TO)
                | Int(IN_CLOSE_WRITE) | Int(IN_ATTRIB) | Int(IN_MOVE_SELF)
                | Int(IN_OPEN) | Int(IN_CLOSE_NOWRITE))
        watches.above = []
        while folder != "/" {
            folder = folder.parentPath
            // Who may not look there learns of no move of it.
            if let watch = try? inotify.watch(folder, Int(IN_MOVE_SELF)) {
                watches.above.append(watch)
            }
        }
    }

    /// Holds on to what the path names now.
    private func take() {
        entry = FolderTree.Entry(path)
        item =
            isMounted
            ? nil : try? OwnedDescriptor.open(path, OwnedDescriptor.pathOnly | O_NOFOLLOW)
        let bits = Int(IN_ATTRIB) | Int(IN_CLOSE_WRITE) | Int(IN_MOVE_SELF) | Int(IN_DELETE_SELF)
        // IN_DONT_FOLLOW, which does not import.
        let watch = entry == nil ? -1 : (try? inotify.watch(path, bits | 0x200_0000)) ?? -1
        if watches.item >= 0, watches.item != watch { inotify.forget(watches.item) }
        watches.item = watch
    }

    /// Whether its file system went away.
    func isUnmounted(_ events: [Inotify.Event]) -> Bool {
        // IN_UNMOUNT, which does not import.
        events.contains {
            [watches.item, watches.folder].contains($0.watch) && $0.isAny(of: 0x2000)
        }
    }

    /// What happened, in order. Empty events are right when ``grace`` is over.
    func follow(_ events: [Inotify.Event]) -> [Change] {
        let name = PathKey(String(path.lastName))
        let concerning = events.filter { isConcerned($0, name) }
        if missing == nil, concerning.isEmpty { return [] }
        guard let now = FolderTree.Entry(path) else { return lookElsewhere() }
        missing = nil
        guard let before = entry, before.isSameItem(as: now) else {
            // Just made, its content is to come: its close tells. What came by link(2) nobody has opened.
            let isMade =
                now.kind == S_IFREG
                && concerning.allSatisfy { $0.isAny(of: Int(IN_CREATE), Int(IN_OPEN)) }
                && concerning.contains { $0.isAny(of: Int(IN_OPEN)) }
            if isMade { return [] }
            take()
            return [.changed]
        }
        // Who only reads it says nothing of one that is being written.
        let isRead = concerning.allSatisfy { $0.isAny(of: Int(IN_OPEN), Int(IN_CLOSE_NOWRITE)) }
        if isRead, !concerning.isEmpty { return [] }
        entry = now
        // A folder's times change with what is in it.
        if now.isFolder {
            return concerning.contains { $0.watch == watches.item && $0.isAny(of: Int(IN_ATTRIB)) }
                ? [.changed] : []
        }
        return before == now ? [] : [.changed]
    }

    private func isConcerned(_ event: Inotify.Event, _ name: PathKey) -> Bool {
        if event.tellsLoss { return true }
        if event.watch == watches.item, event.name.isEmpty { return true }
        if event.watch == watches.folder {
            if !event.name.isEmpty { return PathKey(event.name) == name }
            return event.isAny(of: Int(IN_MOVE_SELF))
        }
        return event.isAny(of: Int(IN_MOVE_SELF)) && watches.above.contains(event.watch)
    }

    /// The name is missing: it was moved, it was deleted, or it comes back at once.
    private func lookElsewhere() -> [Change] {
        guard let before = entry else { return [] }
        let now = MonotonicClock.now
        guard let since = missing else {
            missing = now
            return []
        }
        if now < since + Self.grace * 1_000_000 { return [] }
        missing = nil
        if let found = whereabouts(of: before) {
            let isSame = FolderTree.Entry(found)?.isSameItem(as: before) == true
            for watch in watches.above + [watches.folder] { inotify.forget(watch) }
            path = found
            if (try? watchFolders()) != nil {
                take()
                return isSame ? [.moved(found)] : [.moved(found), .changed]
            }
        }
        entry = nil
        item = nil
        return [.deleted]
    }

    /// Where it was moved to; what has taken its name there meanwhile is it from then on, as anywhere.
    private func whereabouts(of before: FolderTree.Entry) -> String? {
        guard let place = isMounted ? FolderBookmark(before, at: path).search() : item?.path else {
            return nil
        }
        if FolderTree.Entry(place)?.isSameItem(as: before) == true { return place }
        // So the kernel calls what has lost its name, behind the one that it had.
        let mark = " (deleted)"
        guard !isMounted, place.hasSuffix(mark) else { return nil }
        let left = String(place.dropLast(mark.count))
        return PathKey(left) != PathKey(path) && FolderTree.Entry(left) != nil ? left : nil
    }
}
