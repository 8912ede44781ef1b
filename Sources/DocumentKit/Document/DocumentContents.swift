/// What is in a document, as a value: a copy of it is a state to come back to.
public protocol DocumentContents: Sendable {
    /// Loads what a file holds. Throws what is wrong with it.
    init(contents: [UInt8]) throws
    /// What the file is to hold.
    func contents() throws -> [UInt8]
}

/// How a document is at the moment.
public struct DocumentState: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int
    /// Takes the bits as they are.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Not opened yet, or closed.
    public static let closed = DocumentState(rawValue: 1)
    /// Others changed or deleted the file while there were changes that are not saved: neither is
    /// lost, and nothing is saved until ``Document/resolve(_:)``.
    public static let inConflict = DocumentState(rawValue: 2)
    /// The last saving failed (``Document/error``); it is tried again.
    public static let savingError = DocumentState(rawValue: 4)
    /// The contents cannot be changed now.
    public static let editingDisabled = DocumentState(rawValue: 8)
    /// The content is on its way from the store: ``Document/progress``.
    public static let progressAvailable = DocumentState(rawValue: 16)
}

/// What a document tells those who show it.
public enum DocumentEvent: Sendable {
    /// The contents are others: changed, undone, or changed by others and loaded again.
    case contentsChanged
    /// The state is another, or what is in conflict: others wrote once more.
    case stateChanged(DocumentState)
    /// Changes were saved.
    case saved
    /// The file is at another place.
    case moved(to: String)
    /// In a conflict that was ended by closing, the contents were kept in this file.
    case keptCopy(String)
}

/// What a conflict is about.
public struct DocumentConflict<Contents: Sendable>: Sendable {
    /// What others wrote; `nil` if they deleted the file, or it cannot be read.
    public var theirs: Contents?
    /// The file is gone.
    public var isDeleted: Bool
    /// Of what they wrote, also if it cannot be read as contents; `nil` if they deleted the file.
    var digest: [UInt8]?
}

/// How a conflict ends.
public enum DocumentResolution: Sendable {
    /// The contents here replace those of the file (in a container these become an earlier version).
    case mine
    /// Those of the file replace the contents here; a document that was deleted or cannot be loaded is
    /// closed.
    case theirs
    /// The contents here go to a new file beside it, `NAME (conflict of DATE)`; then as ``theirs``.
    case both
}

/// Why something could not be done with a document.
public enum DocumentProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is not open.
    case closed
    /// It is open already.
    case open
    /// ``DocumentState/editingDisabled``.
    case editingDisabled
    /// There is a conflict to resolve first.
    case inConflict
    /// The file cannot be read or written; names it and says why.
    case file(String)

    /// For people.
    public var description: String {
        switch self {
        case .closed: "the document is not open"
        case .open: "the document is open already"
        case .editingDisabled: "the document cannot be changed now"
        case .inConflict: "others changed the document in another way"
        case .file(let words): words
        }
    }
}
