internal import Glibc
internal import Model
internal import Promises
internal import Stores
internal import SystemCalls

/// One run of an import: what of the source has been shown so far. Kept in memory only: a run that was
/// cut off is begun anew, and finds what is there already.
///
/// ``state`` is held while a message is carried out; it is of the first level of the Locking page.
final class ImportPass: Sendable {
    struct State {
        /// The items of the source's folders, by path; also of those that were removed here.
        var folders: [[UInt8]: ItemNumber]
        /// Of those that are elsewhere now or new: the path that what is in them is known by still.
        var formerly: [ItemNumber: [UInt8]] = [:]
        /// Files that are where another was, and may be that one with another identity: that is known
        /// when all has been shown.
        var late: [ImportMessage.Entry] = []
        var seen: Set<ItemNumber> = []
        /// By the identity of folders that have not been shown: what was taken for them.
        var replaced: [[UInt8]: ImportStep.Replacement] = [:]
        /// What is there, but was not shown: the paths, and those that it is known by still.
        private(set) var hidden = HiddenPaths()
        var counts = Counts()
        /// All has been shown, and what is not there any more has been removed.
        private(set) var isComplete = false
        /// A message is being carried out, or one failed.
        private(set) var isUnsure = false

        /// Begins to carry a message out. When one has failed the run is over: it is not known what was
        /// shown, and thus not what is to be removed.
        mutating func beginMessage() throws(Errno) {
            if isComplete || isUnsure { throw Errno(ESTALE) }
            isUnsure = true
        }

        mutating func endMessage() { isUnsure = false }

        mutating func noteHidden(_ paths: [[UInt8]], withAllBelow: Bool) {
            for path in paths {
                hidden.insert(path, withAllBelow: withAllBelow)
                let former =
                    if let folder = folders[path] { formerly[folder] } else { formerPath(of: path) }
                if let former { hidden.insert(former, withAllBelow: withAllBelow) }
            }
        }

        mutating func end() {
            isComplete = true
            seen = []
            folders = [:]
            formerly = [:]
            replaced = [:]
            hidden = HiddenPaths()
        }

        /// The path that what is shown there is known by if it is where it was in its folder; `nil` in a
        /// new folder.
        func formerPath(of path: [UInt8]) -> [UInt8]? {
            guard let folder = folders[ImportMessage.Entry.parent(path)],
                let before = formerly[folder]
            else { return path }
            if before == ImportPass.nowhere { return nil }
            let name = Array(ImportMessage.Entry.name(path))
            return before.isEmpty ? name : before + [0x2f] + name
        }
    }

    /// What became of what was shown.
    struct Counts {
        /// Items that were made.
        var made = 0
        /// Those that were moved or got another content, as at the source.
        var changed = 0
        var removed = 0
        /// Those that changed or vanished at the source, but are as they are here because they were
        /// changed or fetched here.
        var kept = 0
        /// Those in whose place is something else, and those that cannot be here.
        var inTheWay = 0
        /// The path of the first of them.
        var taken: [UInt8] = []
        /// All that were shown.
        var shown = 0

        /// The entry's name has something else.
        mutating func noteTaken(_ entry: ImportMessage.Entry) {
            inTheWay += 1
            if taken.isEmpty { taken = entry.path }
        }
    }

    /// A path that nothing has: nothing in a new folder is known.
    static let nowhere: [UInt8] = [0]

    /// The folder that is imported to.
    let root: ItemNumber
    /// Of the source.
    let address: String
    /// Tells one run from another.
    let token: [UInt8]
    /// Whether what changed at the source is to change here.
    let follows: Bool
    /// Whether nothing was imported here before: then there is nothing to look for.
    let isFirst: Bool
    /// What brings the contents.
    let downloads: Downloads
    let state: Lock<State>

    init(
        root: ItemNumber, _ address: String, token: [UInt8], follows: Bool, isFirst: Bool,
        _ downloads: Downloads
    ) {
        self.root = root
        self.address = address
        self.token = token
        self.follows = follows
        self.isFirst = isFirst
        self.downloads = downloads
        state = Lock(State(folders: [[]: root]))
    }

    /// The contents that are on their way, or have come and are not taken among the blobs yet.
    var coming: Set<ContentHash> { Set(downloads.active.map { $0.blob.hash }) }

    /// For the attribute: a line for each.
    var report: String {
        let state = state.withLock { ($0.counts, $0.isComplete) }
        return """
            shown \(state.0.shown)
            made \(state.0.made)
            changed \(state.0.changed)
            removed \(state.0.removed)
            kept \(state.0.kept)
            inTheWay \(state.0.inTheWay)
            taken \(Hexadecimal.text(state.0.taken))
            complete \(state.1)

            """
    }
}
