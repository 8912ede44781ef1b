internal import PathText

/// The items below a folder by their paths from there, and which of them is in which folder: who takes a
/// folder out looks only at what is below it.
struct FolderEntries {
    private var entries: [PathKey: FolderTree.Entry] = [:]
    /// What is in each folder; none for empty ones.
    private var contents: [PathKey: Set<PathKey>] = [:]

    init() {}
    init(_ found: [PathKey: FolderTree.Entry]) { for (path, entry) in found { self[path] = entry } }

    /// All of them.
    var all: [PathKey: FolderTree.Entry] { entries }

    subscript(path: PathKey) -> FolderTree.Entry? {
        get { entries[path] }
        set {
            let isKnown = entries[path] != nil
            entries[path] = newValue
            if isKnown == (newValue != nil) { return }
            let folder = path.folder
            if isKnown {
                contents[folder]?.remove(path)
                if contents[folder]?.isEmpty == true { contents[folder] = nil }
            } else {
                contents[folder, default: []].insert(path)
            }
        }
    }

    /// Whether there is a folder of this path.
    func hasFolder(_ path: PathKey) -> Bool { entries[path]?.isFolder ?? false }

    /// The paths of all that is below a folder.
    func below(_ folder: PathKey) -> [PathKey] {
        var found = Array(contents[folder] ?? [])
        var next = 0
        while next < found.count {
            found += contents[found[next]] ?? []
            next += 1
        }
        return found
    }
}

/// Which watch of inotify(7) is of which folder, by paths below a common one.
struct FolderWatches {
    private var folders: [Int32: PathKey] = [:]
    /// Where another folder came in the place of one there may be two for a moment.
    private var watches: [PathKey: [Int32]] = [:]

    /// The folder of a watch, which is another's from then on when it is set.
    subscript(watch: Int32) -> PathKey? {
        get { folders[watch] }
        set {
            if let former = folders[watch] {
                watches[former]?.removeAll { $0 == watch }
                if watches[former]?.isEmpty == true { watches[former] = nil }
            }
            folders[watch] = newValue
            if let newValue { watches[newValue, default: []].append(watch) }
        }
    }

    /// The watches of a folder.
    func of(_ folder: PathKey) -> [Int32] { watches[folder] ?? [] }
}
