internal import Coordination
internal import Model

/// What may be wrong in the desktop's cache.
enum DesktopNote {
    /// A document's content or attributes, or a directory's attributes.
    case changed(ItemNumber)
    /// A path leads elsewhere or nowhere; to an item that is `now` at another.
    case left([UInt8], now: ItemNumber?, isDirectory: Bool)
    /// A symlink is new in its place: by its path there may be entries of what somebody lists.
    case placed(ItemNumber)
    /// Somebody lists the directory, and waits.
    case listed(ItemNumber, SingleCall)
    /// Somebody has listed it, and there are more names behind that cursor.
    case further(ItemNumber, after: UInt64)
    /// Somebody looks a name of the document up, and waits.
    case lookedUp(ItemNumber, SingleCall)
    /// Somebody lists links that lead to the documents, and waits.
    case linked(Set<ItemNumber>, SingleCall)
    /// An absolute path has entries that an earlier mount made, and was no document's.
    case stray([UInt8])
    /// Names have changed, or promises came: symlinks may lead to others.
    case doubtedLinks
    /// All that an earlier mount may have left has been looked for, and at.
    case searched

    fileprivate var isGone: Bool {
        if case .left = self { return true }
        return false
    }

    /// What waits until it has been looked at.
    var answer: SingleCall? {
        switch self {
        case .listed(_, let answer), .lookedUp(_, let answer), .linked(_, let answer): answer
        default: nil
        }
    }
}

/// Notes in the order in which they are taken.
struct NoteQueue {
    private var notes: [DesktopNote] = []
    /// Notes before this one were taken.
    private var next = 0

    init(_ notes: [DesktopNote] = []) { self.notes = notes }

    var waiting: ArraySlice<DesktopNote> { notes[next...] }
    var count: Int { notes.count - next }
    var isEmpty: Bool { next == notes.count }

    mutating func append(_ note: DesktopNote) { notes.append(note) }

    mutating func take() -> DesktopNote? {
        if isEmpty { return nil }
        let note = notes[next]
        next += 1
        // Given up in large parts.
        if isEmpty || next >= 1_024 {
            notes.removeFirst(next)
            next = 0
        }
        return note
    }
}

/// What ``DesktopEntries`` is to look at, in which order, and what it has looked at.
struct DesktopNotes {
    /// Documents whose names were looked up, and what waits for their entries; served before all else.
    var lookups: [(item: ItemNumber, answer: SingleCall)] = []
    /// Listings, and symlinks that those after them may go by. Served before the notes: somebody waits.
    var awaited = NoteQueue()
    /// Symlinks that wait in ``awaited``, or are looked at.
    var placed = 0
    /// Directories that were listed, and the cursors behind which their documents are still to be seen to
    /// when nothing else is; 0 while they are seen to for the first time.
    var unfinished: [ItemNumber: UInt64] = [:]
    var links = LinkedPaths()
    var notes = NoteQueue()
    var changed: Set<ItemNumber> = []
    /// Of the directories in notes that wait, or that is looked at.
    var formerPaths = OtherPaths()
    /// Of directories that links lead to which were listed.
    var folderLinks = OtherPaths()
    var symlinks = SeenSymlinks()
    /// Whether what they lead to is to be looked at again.
    private var hasDoubtedLinks = false
    /// Documents that have entries, or had in this mount, and the last version that these were of:
    /// whatever is in its place gets others.
    var written: [DocumentID: NodeNumber] = [:]
    /// Whether there were too many of them, so that others may have entries, too.
    var hasForgottenWritten = false
    /// In place of ``losses`` for a directory that was listed when it had fewer paths, or fewer promises.
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
    var isUnfinished: Bool {
        !notes.isEmpty || !strays.isEmpty || hasLostNotes || hasDoubtedLinks
    }

    /// What links lead to may be another: a name has come, gone, or become that of a promise.
    mutating func doubtLinks(by name: [UInt8]) {
        if symlinks.goBy(name) { hasDoubtedLinks = true }
    }

    /// The same of a directory, by which links may go without naming it.
    mutating func doubtAllLinks() {
        if !symlinks.isEmpty || !links.isEmpty { hasDoubtedLinks = true }
    }

    /// Whether it may, since this was asked last.
    mutating func takeDoubt() -> Bool {
        defer { hasDoubtedLinks = false }
        return hasDoubtedLinks
    }

    /// Notes that wait; what comes to more is lost, and so are the entries' rights to be believed
    /// only as far as their times tell.
    static let limit = 65_536

    /// Whether there is room for a note of a change. Listings take none: where the thread is stuck they are
    /// answered, and asked for again and again.
    mutating func makeRoom() -> Bool {
        if notes.count + placed < Self.limit { return true }
        hasLostNotes = true
        return false
    }

    /// Whether so many wait that who lists a directory now does not.
    var isCrowded: Bool { awaited.count >= 2 * Self.limit }

    /// Takes out what somebody waits for, in the order in which it is served.
    mutating func takeAwaited() -> DesktopNote? {
        if !lookups.isEmpty {
            let lookup = lookups.removeFirst()
            return .lookedUp(lookup.item, lookup.answer)
        }
        return awaited.take()
    }

    /// Takes out all that waits at the end.
    mutating func takeAnswers() -> [SingleCall] {
        defer { (lookups, awaited) = ([], NoteQueue()) }
        return lookups.map(\.answer) + awaited.waiting.compactMap(\.answer)
    }

    /// Puts first what nobody would look at after the end: what is gone.
    mutating func sortLastNotes() {
        let waiting = notes.waiting
        notes = NoteQueue(waiting.filter(\.isGone) + waiting.filter { !$0.isGone })
    }

    /// Whether all that is to be seen to when a directory is listed was.
    func hasSeenTo(_ directory: ItemNumber) -> Bool {
        listed[directory] == losses && unfinished[directory] != 0 && placed == 0
    }
}
