internal import Coordination
internal import Model

/// Links to documents, by whose paths file managers know the documents, too: those in the virtual folders that
/// somebody has listed.
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

    /// A folder was listed, or has changed.
    ///
    /// - Returns: the documents that are to be seen to, and links that are gone.
    mutating func set(_ links: [Path: ItemNumber], of folder: Path, losses: Int)
        -> (items: Set<ItemNumber>, gone: [Path])
    {
        let known = folders[folder] ?? Folder(links: [:], losses: losses)
        let gone = known.links.filter { links[$0.key] != $0.value }
        for (path, item) in gone {
            paths[item]?.remove(path)
            if paths[item]?.isEmpty == true { paths[item] = nil }
        }
        var kept = known.links.filter { links[$0.key] == $0.value }
        var items = known.losses == losses ? [] : Set(kept.values)
        count -= gone.count
        for (path, item) in links where kept[path] == nil && count < Self.most {
            kept[path] = item
            paths[item, default: []].insert(path)
            items.insert(item)
            count += 1
        }
        folders[folder] = kept.isEmpty ? nil : Folder(links: kept, losses: losses)
        return (items, Array(gone.keys))
    }
}
