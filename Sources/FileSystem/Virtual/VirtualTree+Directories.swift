internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls

/// What the folders of the virtual tree list.
extension VirtualTree {
    func list(
        _ number: UInt64, from offset: UInt64, counted: Bool,
        _ body: (String, UInt64, Entry) -> Bool
    ) throws(Errno) {
        let directory = try node(number)
        if let (mirrored, size) = Self.mirrored(directory) {
            return try listPictures(
                number, of: mirrored, size, from: offset, counted: counted, body)
        }
        /// Shows an entry; says whether there is room for more.
        func show(_ name: String, _ node: VirtualNode?, _ next: UInt64) throws(Errno) -> Bool {
            var found = Entry(node: 0, status: stat(), timeout: 0)
            found.status.st_mode = S_IFDIR
            found.status.st_ino = UInt(number)
            if let node {
                do throws(Errno) { found = try entry(node, counted: counted) } catch {
                    // Thinned out since it was listed.
                    if error.code == ENOENT { return true }
                    throw error
                }
            }
            if body(name, next, found) { return true }
            if counted, node != nil { forget(found.node, 1) }
            return false
        }
        let selves: [(String, VirtualNode?)] = [(".", nil), ("..", nil)]
        var entries: [(String, VirtualNode?)] = []
        // The place that the offset stands for, and what offsets begin with.
        var (first, start) = (offset, UInt64(0))
        var mirrored: ItemNumber?
        switch directory {
        case .top:
            entries = [
                ("status.json", .status), ("metrics", .metrics), ("events", .events(nil)),
                ("documents", .documents),
                ("bookmarks", .bookmarks), ("recents", .recents), ("find", .find),
                ("queries", .queries), ("conflicts", .conflicts), ("grants", .grants),
                ("versions", .versions),
            ]
            if volume.pictures != nil { entries.append(("thumbnails", .thumbnails)) }
        case .thumbnails:
            entries = PictureSize.allCases.map { (String($0.pixels), .thumbnailsOf($0)) }
        case .thumbnailsOf, .thumbnailsBelow: break  // Above.
        case .versions: mirrored = .root
        case .versionsBelow(let item, in: _): mirrored = item
        case .bookmarks, .recents, .queries, .query, .conflicts, .history:
            let listing = try listing(of: directory, at: offset)
            entries = listing.entries
            (first, start) = (listing.place(of: offset), listing.start)
            // Who is at its end has seen all of it; `.` and `..` stand before.
            if first >= UInt64(selves.count + entries.count) { forget(listing, of: directory) }
        case .find: break  // By name only: any query is one.
        case .granted, .grantedHere, .grantedTo, .grantedFind: break  // By name only: for programs.
        case .former: break  // For one process only.
        case .documents: break  // By name only: there may be a million.
        case .status, .metrics, .events, .document, .bookmark, .recent, .findings, .found, .version,
            .picture, .grants, .grantedNames, .grantedFindings, .grantedBell:
            throw Errno(ENOTDIR)
        }
        // What is before the offset costs nothing: there may be a hundred thousand, in a thousand parts.
        let end = selves.count + entries.count
        for index in min(Int(clamping: first), end)..<end {
            let isSelf = index < selves.count
            let (name, node) = isSelf ? selves[index] : entries[index - selves.count]
            if try !show(name, node, start + UInt64(index) + 1) { return }
        }
        guard let mirrored else { return }
        var cursor = offset <= Self.firstCursor ? 0 : offset - Self.firstCursor
        while true {
            let (names, last) = try mirroredNames(mirrored, in: number, after: cursor)
            for (name, node, standing) in names {
                if try !show(name, node, standing + Self.firstCursor) { return }
            }
            guard let last else { return }
            cursor = last
        }
    }

    /// Names that are looked at in one hold of the volume's lock.
    static let namesAtOnce = 64
    /// In a folder that mirrors a directory cursors 1 and 2 stand on `.` and `..`; those of names are
    /// larger by this.
    static let firstCursor: UInt64 = 3

    /// Some names of a mirrored directory, behind a cursor, with cursors that stand on them, and the one
    /// that stands on the last that was looked at; nil at the end. So what is before a cursor costs
    /// nothing, and no name is left out while others go.
    func mirroredNames(
        _ directory: ItemNumber, in folder: UInt64, after cursor: UInt64
    ) throws(Errno) -> (names: [(String, VirtualNode, UInt64)], last: UInt64?) {
        try volume.read {
            (state) throws(Errno) -> (names: [(String, VirtualNode, UInt64)], last: UInt64?) in
            let position = state.index.find(directory)
            guard position != 0 else { throw Errno(ENOENT) }
            let found = state.index.children(of: position, after: cursor, atMost: Self.namesAtOnce)
            var names: [(String, VirtualNode, UInt64)] = []
            for name in found {
                let item = state.index[name: name].pointee.item
                guard let node = try? mirror(state, item, in: folder) else { continue }
                let text = String(path: state.index.nameBytes(name))
                names.append((text, node, state.index.cursor(name)))
            }
            return (names, found.last.map { state.index.cursor($0) })
        }
    }
}
