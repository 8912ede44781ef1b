/// A `.list` document: a coloured list of things to do.
///
/// What is open comes before what is done as long as the operations of the original app are used
/// (`add`, `toggle`, `paste`); `items` can hold any order, as files can.
public struct TaskList: Hashable, Sendable {
    /// The items in order.
    public var items: [TaskItem]
    /// The colour of the list.
    public var color: ListColor
    /// Entries of the archived list that nobody here knows, in order.
    public var otherEntries: [ArchivedEntry]

    /// What else was in the archive the list was read from and is not written again.
    public internal(set) var losses: [ArchiveLoss]
    /// The class of the archived array of items.
    var arrayClass: String

    static let standardArrayClass = "NSArray"

    /// A list.
    public init(items: [TaskItem] = [], color: ListColor = .gray) {
        self.items = items
        self.color = color
        otherEntries = []
        losses = []
        arrayClass = TaskList.standardArrayClass
    }
}

/// One thing to do.
public struct TaskItem: Hashable, Sendable {
    /// What is to be done: one line, as edits see to; files can hold more, which are kept.
    @Exact public var text: String
    /// Whether it is done.
    public var isComplete: Bool
    /// What makes it the same item after its text changed.
    public var id: ItemID
    /// Entries of the archived item that nobody here knows, in order.
    public var otherEntries: [ArchivedEntry]

    /// An item; a new one gets a new identity.
    public init(_ text: String, isComplete: Bool = false, id: ItemID = .random()) {
        self.text = text
        self.isComplete = isComplete
        self.id = id
        otherEntries = []
    }
}

/// The six colours of a list, numbered as in documents.
public enum ListColor: Int, CaseIterable, Hashable, Sendable {
    /// The colour of a new list.
    case gray = 0
    /// Blue.
    case blue = 1
    /// Green.
    case green = 2
    /// Yellow.
    case yellow = 3
    /// Orange.
    case orange = 4
    /// Red.
    case red = 5

    /// The name on the command line.
    public var name: String {
        switch self {
        case .gray: "gray"
        case .blue: "blue"
        case .green: "green"
        case .yellow: "yellow"
        case .orange: "orange"
        case .red: "red"
        }
    }

    /// The colour of a name, in any case; `grey` is `gray`.
    public init?(name: String) {
        let lower = name.lowercased()
        let match = ListColor.allCases.first { $0.name == (lower == "grey" ? "gray" : lower) }
        guard let match else { return nil }
        self = match
    }

    /// The colour as it is drawn.
    public var color: Color {
        switch self {
        case .gray: Color(red: 142, green: 142, blue: 147)
        case .blue: Color(red: 0, green: 122, blue: 255)
        case .green: Color(red: 76, green: 217, blue: 100)
        case .yellow: Color(red: 255, green: 204, blue: 0)
        case .orange: Color(red: 255, green: 149, blue: 0)
        case .red: Color(red: 255, green: 59, blue: 48)
        }
    }
}
