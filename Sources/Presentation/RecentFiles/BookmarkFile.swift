internal import Thumbnailing

/// A file of the Desktop Bookmark Specification, such as `recently-used.xbel`: its text, and where in
/// it the entries are. What is not changed stays byte for byte. Pure.
struct BookmarkFile {
    /// Entries that are looked at; a text with more is refused.
    private static let entryLimit = 50_000

    /// An entry, and what is to become of it.
    struct Entry {
        /// From `<bookmark` to behind `</bookmark>`.
        var range: Range<Int>
        /// The absolute path of the file it leads to; nil if it leads elsewhere.
        var path: [UInt8]?
        /// When it was last visited or registered, in seconds since 1970.
        var moment: Int64 = 0
        /// Where values of attributes are, and where another attribute can be put.
        var href: Range<Int>
        var attributes: [String: Range<Int>]
        var attributesEnd: Int
        /// Where another application can be put; nil if it has none.
        var applicationsEnd: Int?
        /// Our own application's attributes, if it is there.
        var application: [String: Range<Int>]?
        /// Only for the applications that registered it.
        var isPrivate = false

        var isRemoved = false
        var newPath: [UInt8]?
        var opened: Int64?
    }

    /// The text as it was read.
    let bytes: [UInt8]
    var entries: [Entry] = []
    /// Entries to be added at the end.
    var added: [(path: [UInt8], opened: Int64)] = []
    /// Where those go, in the text; nil if it has no place for them, and has to be made anew.
    private(set) var end: Int?
    private var hasRoot = false
    /// Where the namespaces that are not declared can be.
    private(set) var missingNamespaces: [(name: String, at: Int)] = []

    init(_ bytes: [UInt8]) throws(MarkupScanner.Malformed) {
        // No XML has it in it; who reads the list would take it for the end.
        if bytes.contains(0) { throw MarkupScanner.Malformed() }
        self.bytes = bytes
        var scanner = MarkupScanner(bytes)
        var open: [String] = []
        var entry: Entry?
        while let tag = try scanner.next() {
            switch tag.kind {
            case .closing:
                guard open.popLast() == tag.name else { throw MarkupScanner.Malformed() }
                if open.isEmpty { end = tag.range.lowerBound }
                if open.count == 1, var found = entry {
                    found.range = found.range.lowerBound..<tag.range.upperBound
                    try add(found)
                    entry = nil
                }
                if tag.name == BookmarkXML.applications {
                    entry?.applicationsEnd = tag.range.lowerBound
                }
            case .opening, .empty:
                if open.isEmpty { try begin(tag) }
                if open.count == 1, tag.name == "bookmark", let href = tag.attributes["href"] {
                    let found = described(tag, href)
                    if tag.kind == .empty { try add(found) } else { entry = found }
                }
                if tag.name == BookmarkXML.isPrivate { entry?.isPrivate = true }
                if tag.name == BookmarkXML.application, let name = tag.attributes["name"],
                    MarkupText.plain(bytes[name])?.elementsEqual(BookmarkXML.ownName.utf8) == true
                {
                    entry?.application = tag.attributes
                }
                if tag.kind == .opening { open.append(tag.name) }
            }
        }
        guard open.isEmpty, hasRoot else { throw MarkupScanner.Malformed() }
    }

    /// The tag of the whole.
    private mutating func begin(_ tag: MarkupScanner.Tag) throws(MarkupScanner.Malformed) {
        guard tag.name == "xbel", !hasRoot else { throw MarkupScanner.Malformed() }
        hasRoot = true
        for name in BookmarkXML.namespaces.map(\.name) where tag.attributes[name] == nil {
            missingNamespaces.append((name, tag.end))
        }
    }

    private func described(_ tag: MarkupScanner.Tag, _ href: Range<Int>) -> Entry {
        var entry = Entry(
            range: tag.range, href: href, attributes: tag.attributes, attributesEnd: tag.end)
        entry.path = MarkupText.plain(bytes[href]).flatMap {
            FileURI.path(ofAddress: String(decoding: $0, as: UTF8.self))
        }
        for name in ["modified", "visited"] {
            let moment = tag.attributes[name].flatMap { BookmarkTime.seconds(bytes[$0]) }
            entry.moment = max(entry.moment, moment ?? 0)
        }
        return entry
    }

    private mutating func add(_ entry: Entry) throws(MarkupScanner.Malformed) {
        guard entries.count < Self.entryLimit else { throw MarkupScanner.Malformed() }
        entries.append(entry)
    }
}
