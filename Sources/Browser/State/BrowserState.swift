import Drawing
package import Editor

/// All that the browser knows. A pure value: events come in, effects come out.
package struct BrowserState: Sendable {
    /// The parts of the screen that documents are in.
    package enum Section: Hashable, Sendable {
        case recent
        case all
    }

    /// A document where it is shown: it may be in both sections.
    package struct Place: Hashable, Sendable {
        package var section: Section
        package var document: BrowserIdentity
    }

    /// What is asked at the bottom of the screen.
    package enum Question: Hashable, Sendable {
        case create
        case rename(String, item: UInt64)
        case delete(String, item: UInt64)
    }

    /// Documents that are viewed recently and shown as such.
    package static let recentLimit = 8
    /// Pictures that are kept.
    static let pictureLimit = 400

    /// What the folder is called.
    package let name: String
    package internal(set) var shape: TerminalShape
    /// By name.
    package internal(set) var entries: [BrowserEntry] = [] {
        didSet {
            known = Dictionary(entries.map { ($0.identity, $0) }) { first, _ in first }
            match()
        }
    }
    /// The same by what they are.
    private(set) var known: [BrowserIdentity: BrowserEntry] = [:]
    /// The documents that are shown, by name. Kept, as all names are looked through for them: each key and
    /// each picture that comes asks for them several times.
    package private(set) var matching: [BrowserEntry] = []
    /// Those viewed last, newest first; none while a filter is typed.
    package private(set) var recent: [BrowserEntry] = []
    package internal(set) var details: [UInt64: BrowserDetails] = [:]
    /// Of the documents that have any, by their numbers.
    package internal(set) var titles: [UInt64: String] = [:] {
        didSet { if !filter.isEmpty { match() } }
    }
    /// What names or titles have to hold to be shown.
    package internal(set) var filter = "" {
        didSet { match() }
    }
    package internal(set) var selection: Place?
    /// The first row of ``Shelves`` on the screen.
    package internal(set) var firstRow = 0
    package internal(set) var question: Question?
    /// What was typed as an answer.
    package internal(set) var answer = ""
    package internal(set) var message = ""
    package internal(set) var isBad = false
    package internal(set) var isHelping = false
    /// Whether the folder has been read.
    package internal(set) var isListed = false
    /// Whether ``entries`` are all that it holds.
    var isWhole = true
    /// Why it could not be read last, if it could not.
    var listProblem: String?
    /// Pictures by what they show; nil where there is none yet.
    var pictures: [PictureKey: Bitmap?] = [:]
    /// Those of them that only stand for one.
    var standIns: Set<PictureKey> = []
    /// In the order in which they came.
    var pictureOrder: [PictureKey] = []
    /// A path to select when it is there.
    var awaited: String?

    package init(name: String, shape: TerminalShape) {
        self.name = name
        self.shape = shape
    }

    /// The selected document.
    package var selected: BrowserEntry? {
        selection.flatMap { known[$0.document] }
    }

    /// How many documents there are, as far as is known.
    var count: String { "\(entries.count)" + (isWhole ? "" : "+") }

    private mutating func match() {
        guard filter.isEmpty else {
            let wanted = filter.lowercased()
            matching = entries.filter { entry in
                BrowserEntry.path(entry.path, holds: wanted)
                    || titles[entry.item]?.lowercased().contains(wanted) == true
            }
            recent = []
            return
        }
        matching = entries
        let viewed = entries.filter { $0.viewed > 0 }.sorted {
            ($0.viewed, $1.path) > ($1.viewed, $0.path)
        }
        recent = Array(viewed.prefix(Self.recentLimit))
    }
}

/// A picture in one size.
struct PictureKey: Hashable, Sendable {
    var version: BrowserVersion
    var size: PixelSize
}
