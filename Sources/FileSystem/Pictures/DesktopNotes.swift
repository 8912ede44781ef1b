internal import Coordination
internal import Model

/// What may be wrong in the desktop's cache.
enum DesktopNote {
    /// A document's content or attributes, or a directory's attributes.
    case changed(ItemNumber)
    /// A path leads elsewhere or nowhere; to an item that is `now` at another.
    case left([UInt8], now: ItemNumber?, isDirectory: Bool)
    /// Somebody lists the directory.
    case listed(ItemNumber)
    /// Somebody has listed it, and there are more names behind that cursor.
    case further(ItemNumber, after: UInt64)
    /// Somebody looks a name of the document up, and waits.
    case lookedUp(ItemNumber, SingleCall)
    /// Somebody lists links that lead to the documents, and waits.
    case linked(Set<ItemNumber>, SingleCall)
    /// An absolute path has entries that an earlier mount made, and was no document's.
    case stray([UInt8])
    /// All that an earlier mount may have left has been looked for, and at.
    case searched

    fileprivate var isGone: Bool {
        if case .left = self { return true }
        return false
    }
}

/// What ``DesktopEntries`` is to look at, in which order, and what it has looked at.
struct DesktopNotes {
    /// Symlinks that are new in their place, and how often they have got another one since they were looked at.
    /// Served before all else: by their paths there may be entries of what somebody lists.
    var symlinks: [ItemNumber: Int] = [:]
    /// Served first otherwise: somebody waits.
    var directories: [ItemNumber] = []
    /// Directories that were listed, and the cursors behind which their documents are still to be seen to
    /// when nothing else is.
    var unfinished: [ItemNumber: UInt64] = [:]
    /// Listings that wait for the entries of their directory.
    var answers: [ItemNumber: [SingleCall]] = [:]
    /// Documents whose names were looked up, and what waits for their entries; served before all else.
    var lookups: [(item: ItemNumber, answer: SingleCall)] = []
    /// Documents that links lead to which are listed, and what waits for their entries.
    var linked: [(items: Set<ItemNumber>, answer: SingleCall)] = []
    var links = LinkedPaths()
    var notes: [DesktopNote] = []
    /// Notes before this one were taken.
    var next = 0
    var changed: Set<ItemNumber> = []
    /// Of the directories in notes that wait, or that is looked at.
    var formerPaths = OtherPaths()
    /// Of directories that links lead to which were listed.
    var folderLinks = OtherPaths()
    /// Documents that have entries, or had in this mount, and the last version that these were of:
    /// whatever is in its place gets others.
    var written: [DocumentID: NodeNumber] = [:]
    /// Whether there were too many of them, so that others may have entries, too.
    var hasForgottenWritten = false
    /// In place of ``losses`` for a directory that was listed when it had fewer paths.
    static let listedBefore = -1
    /// Directories that were listed, and what ``losses`` was then.
    var listed: [ItemNumber: Int] = [:]
    /// Documents that were looked up in directories that were not listed, and what ``losses`` was then.
    var lookedUp: [ItemNumber: Int] = [:]
    /// How often somebody else has removed entries, as far as was looked.
    var losses = 0
    /// Absolute paths with entries that may be an earlier mount's; served last.
    var strays: [[UInt8]] = []
    /// Whether such are looked for.
    var isSearching = false
    /// The search has come to its end.
    var isSearched = false
    /// Whether there were more notes than could be kept.
    var hasLostNotes = false
    var ended = false
    /// When the thread ends whatever waits, of `MonotonicClock`.
    var end = UInt64.max
    var done = true

    /// Whether a document may have entries.
    func mayHaveEntries(_ document: DocumentID) -> Bool {
        hasForgottenWritten || written[document] != nil
    }

    /// Whether a document may have entries with what stands for its picture.
    func mayBeStoodFor(_ document: DocumentID) -> Bool {
        written[document].map { $0.ordinal == 0 } ?? hasForgottenWritten
    }

    /// Whether there is more that might be wrong.
    var isUnfinished: Bool { next < notes.count || !strays.isEmpty || hasLostNotes }

    /// Takes out what somebody waits for, in the order in which it is served.
    mutating func takeAwaited() -> DesktopNote? {
        // Out when it has been looked at: who lists something meanwhile waits for that.
        if let (item, _) = symlinks.first { return .changed(item) }
        if !lookups.isEmpty {
            let lookup = lookups.removeFirst()
            return .lookedUp(lookup.item, lookup.answer)
        }
        if !linked.isEmpty {
            let listing = linked.removeFirst()
            return .linked(listing.items, listing.answer)
        }
        return directories.isEmpty ? nil : .listed(directories.removeFirst())
    }

    /// Puts first what nobody would look at after the end: what is gone.
    mutating func sortLastNotes() {
        let waiting = notes[next...]
        notes = waiting.filter(\.isGone) + waiting.filter { !$0.isGone }
        next = 0
    }
}
