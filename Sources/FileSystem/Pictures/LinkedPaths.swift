internal import Catalog
internal import Coordination
internal import Model
internal import PathText

/// Links to documents, by whose paths file managers know the documents, too: those in virtual folders and
/// directories that somebody has listed.
struct LinkedPaths {
    /// Below the root.
    typealias Path = [UInt8]

    private struct Folder {
        var links: [Path: ItemNumber]
        /// What ``DesktopNotes/losses`` was when they were seen to.
        var losses: Int
    }
    /// Links that are remembered at most, and of one folder.
    private static let most = 50_000
    static let mostOfFolder = 10_000

    private var folders: [Path: Folder] = [:]
    private var paths: [ItemNumber: Set<Path>] = [:]
    private var count = 0

    var isEmpty: Bool { count == 0 }

    func contains(_ path: Path) -> Bool { folders[Self.folder(of: path)]?.links[path] != nil }

    /// Every link, in no order.
    var all: [(path: Path, item: ItemNumber)] {
        folders.values.flatMap { $0.links.map { (path: $0.key, item: $0.value) } }
    }

    func paths(of item: ItemNumber) -> Set<Path> { paths[item] ?? [] }

    /// A virtual folder was listed.
    ///
    /// - Returns: the documents that are to be seen to, and links that are gone.
    mutating func set(_ links: [Path: ItemNumber], of folder: Path, losses: Int)
        -> (items: Set<ItemNumber>, gone: [Path])
    {
        let known = folders[folder]
        let gone = (known?.links ?? [:]).filter { links[$0.key] != $0.value }.keys
        for path in gone { remove(path, of: folder) }
        let isKnown = known?.losses == losses
        folders[folder]?.losses = losses
        return (add(links, of: folder, losses: losses, onlyNew: isKnown), Array(gone))
    }

    /// Some of a directory's links were listed.
    ///
    /// - Returns: the documents that are to be seen to: of those that were not known, or of all.
    mutating func add(
        _ links: [Path: ItemNumber], of folder: Path, losses: Int, onlyNew: Bool = false
    ) -> Set<ItemNumber> {
        if links.isEmpty { return [] }
        var known = folders[folder] ?? Folder(links: [:], losses: losses)
        var items: Set<ItemNumber> = []
        for (path, item) in links {
            if known.links[path] != item {
                guard count < Self.most else { continue }
                if let other = known.links.updateValue(item, forKey: path) {
                    forget(path, of: other)
                } else {
                    count += 1
                }
                paths[item, default: []].insert(path)
            } else if onlyNew {
                continue
            }
            items.insert(item)
        }
        folders[folder] = known
        return items
    }

    /// Forgets the links below a folder that is none any more; their paths.
    mutating func removeAll(below folder: Path) -> [Path] {
        let beginning = folder + [UInt8(ascii: "/")]
        let gone = folders.filter { $0.key == folder || $0.key.starts(with: beginning) }
            .values.flatMap(\.links.keys)
        for path in gone { remove(path) }
        return gone
    }

    /// A path is no link any more, or one to something else.
    mutating func remove(_ path: Path) { remove(path, of: Self.folder(of: path)) }

    static func folder(of path: Path) -> Path {
        Array(path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)])
    }

    private mutating func remove(_ path: Path, of folder: Path) {
        guard let item = folders[folder]?.links.removeValue(forKey: path) else { return }
        if folders[folder]?.links.isEmpty == true { folders[folder] = nil }
        forget(path, of: item)
        count -= 1
    }

    private mutating func forget(_ path: Path, of item: ItemNumber) {
        paths[item]?.remove(path)
        if paths[item]?.isEmpty == true { paths[item] = nil }
    }
}

extension MemoryIndex {
    /// How many links the kernel follows in a path.
    private static let mostFollowed = 40

    /// What a path from the root leads to, with the symlinks in it and at its end followed; 0 if that is nothing,
    /// or not in this mount.
    ///
    /// - Parameter points: paths of the mount.
    func follow(_ path: [UInt8], of points: [String]) -> Position {
        let slash = UInt8(ascii: "/")
        var names = Array(path.split(separator: slash).reversed())
        var found: [Position] = [find(.root)]
        var followed = 0
        while let name = names.popLast(), let above = found.last {
            if name.elementsEqual(".".utf8) { continue }
            if name.elementsEqual("..".utf8) {
                found.removeLast()
                if found.isEmpty { return 0 }
                continue
            }
            let entry = name.withUnsafeBytes { lookup(above, $0) }
            guard entry != 0 else { return 0 }
            let item = self[name: entry].pointee.item
            guard self[item: item].pointee.isSymlink else {
                found.append(item)
                continue
            }
            followed += 1
            guard followed <= Self.mostFollowed else { return 0 }
            var target = self.target(item)[...]
            if target.first == slash {
                let roots = points.lazy.map { ($0 + "/").pathBytes }
                guard let root = roots.first(where: { (target + [slash]).starts(with: $0) })
                else { return 0 }
                target = target.dropFirst(root.count)
                found = [find(.root)]
            }
            names += target.split(separator: slash).reversed()
        }
        return found.last ?? 0
    }
}
