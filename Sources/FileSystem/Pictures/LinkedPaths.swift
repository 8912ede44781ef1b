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
    /// The file that a symlink leads to, by the names in it as they are; 0 if that is none, or is not in this
    /// mount.
    ///
    /// - Parameters:
    ///   - folder: the path of the directory that the link is in.
    ///   - points: paths of the mount.
    func file(ledToBy link: Position, in folder: [UInt8], of points: [String]) -> Position {
        let slash = UInt8(ascii: "/")
        var target = Array(self.target(link))[...]
        var names: [ArraySlice<UInt8>] = []
        if target.first == slash {
            let roots = points.lazy.map { ($0 + "/").pathBytes }
            guard let root = roots.first(where: { target.starts(with: $0) }) else { return 0 }
            target = target.dropFirst(root.count)
        } else {
            names = folder.split(separator: slash)
        }
        for name in target.split(separator: slash) {
            if name.elementsEqual(".".utf8) { continue }
            if name.elementsEqual("..".utf8) {
                if names.popLast() == nil { return 0 }
            } else {
                names.append(name)
            }
        }
        let position = item(at: Array(names.joined(separator: [slash])))
        return position != 0 && self[item: position].pointee.isRegular ? position : 0
    }
}
