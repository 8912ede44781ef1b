package import Catalog
package import Model

/// An item that a query found, under one of its names.
package struct Found: Hashable, Sendable {
    package var item: ItemNumber
    package var document: DocumentID
    /// Below the root.
    package var path: String
    package var isFolder: Bool
    /// Bytes; 0 of folders.
    package var size: Int64
    package var modified: Timestamp
    package var isPromise: Bool
    /// What it is called apart from its name; nil if it has no title, or nobody asked for titles.
    package var title: String?

    /// Behind the last slash of ``path``.
    package var name: Substring { path.split(separator: "/").last ?? "" }
    /// Behind the last dot of the name, in lower case; empty if there is none.
    var type: String { Self.type(of: name) }

    static func type(of name: some StringProtocol) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }
}

/// What a query needs to know of documents besides what the index has.
package struct Knowledge: Sendable {
    /// Titles of documents, if they are wanted; empty for those that have none.
    package var titles: [DocumentID: String] = [:]
    /// Only these; nil: all.
    package var documents: Set<DocumentID>?
    /// Only these; nil: all.
    package var items: Set<ItemNumber>?

    package init() {}
}

/// Looks at the items of a container one directory after the other, so that whoever guards the index
/// can let others in between. What is moved meanwhile may be missed or found twice; whoever needs more
/// follows the changes since, and looks again.
package struct Gathering {
    private let query: Query
    private let pattern: NamePattern?
    private let knowledge: Knowledge
    private var found: [Found] = []
    /// Directories that are still to be looked at, with where to go on.
    private var open: [(item: ItemNumber, path: String, cursor: UInt64)] = []
    /// Names looked at in one step.
    private static let step = 512

    package init(_ query: Query, _ knowledge: Knowledge = Knowledge()) {
        self.query = query
        self.knowledge = knowledge
        pattern = query.name.map(NamePattern.init)
    }

    /// Finds the folder of the query; says whether there is one.
    package mutating func begin(_ index: MemoryIndex) -> Bool {
        var position = index.find(.root)
        for name in query.folder.split(separator: "/") {
            guard position != 0, index[item: position].pointee.isDirectory else { return false }
            let found = Array(name.utf8).withUnsafeBytes { index.lookup(position, $0) }
            position = found == 0 ? 0 : index[name: found].pointee.item
        }
        guard position != 0, index[item: position].pointee.isDirectory else { return false }
        let path = query.folder.split(separator: "/").joined(separator: "/")
        open = [(ItemNumber(rawValue: index[item: position].pointee.number), path, 0)]
        return true
    }

    /// Looks at some names more; says whether there are others left.
    package mutating func step(_ index: MemoryIndex) -> Bool {
        guard let directory = open.popLast() else { return false }
        let position = index.find(directory.item)
        // Gone since.
        guard position != 0 else { return !open.isEmpty }
        var name = index.child(of: position, after: directory.cursor)
        var count = 0
        while name != 0 {
            look(at: name, in: directory.path, index)
            count += 1
            if count == Self.step {
                open.append((directory.item, directory.path, index.cursor(name)))
                break
            }
            name = index[name: name].pointee.next
        }
        return !open.isEmpty
    }

    private mutating func look(
        at name: MemoryIndex.Position, in folder: String, _ index: MemoryIndex
    ) {
        let bytes = index.nameBytes(name)
        if !query.hidden, bytes.first == UInt8(ascii: ".") { return }
        let record = index[item: index[name: name].pointee.item]
        let text = String(decoding: bytes, as: UTF8.self)
        var path: String { folder.isEmpty ? text : folder + "/" + text }
        if record.pointee.isDirectory {
            open.append((ItemNumber(rawValue: record.pointee.number), path, 0))
        }
        switch query.kind {
        case .documents: if !record.pointee.isRegular { return }
        case .folders: if !record.pointee.isDirectory { return }
        case .all: break
        }
        let size = record.pointee.isRegular ? record.pointee.size : 0
        let modified = Timestamp(rawValue: record.pointee.modified)
        let isPromise = record.pointee.isRegular && record.pointee.place == .promised
        // What costs nothing first.
        if let smallest = query.smallest, size < smallest { return }
        if let largest = query.largest, size > largest { return }
        if let oldest = query.oldest, modified.seconds < oldest { return }
        if let newest = query.newest, modified.seconds > newest { return }
        if let wanted = query.isPromise, isPromise != wanted { return }
        let item = ItemNumber(rawValue: record.pointee.number)
        if let items = knowledge.items, !items.contains(item) { return }
        let document = DocumentID(rawValue: record.pointee.document)
        if let documents = knowledge.documents, !documents.contains(document) { return }
        if !query.types.isEmpty, !query.types.contains(Found.type(of: text)) { return }
        if let pattern, !pattern.matches(text) { return }
        if isTemporaryName(Array(bytes)) { return }
        found.append(
            Found(
                item: item, document: document, path: path,
                isFolder: record.pointee.isDirectory, size: size, modified: modified,
                isPromise: isPromise,
                title: knowledge.titles[document].flatMap { $0.isEmpty ? nil : $0 }))
    }

    /// What was found, in the query's order.
    package func results() -> [Found] {
        func isBefore(_ one: Found, _ other: Found) -> Bool {
            switch query.order {
            case .path: break
            case .name: if one.name != other.name { return one.name < other.name }
            case .size: if one.size != other.size { return one.size < other.size }
            case .modified:
                if one.modified != other.modified { return one.modified < other.modified }
            case .type: if one.type != other.type { return one.type < other.type }
            case .title:
                let first = one.title?.lowercased() ?? ""
                let second = other.title?.lowercased() ?? ""
                // What has none comes last.
                if first.isEmpty != second.isEmpty { return second.isEmpty }
                if first != second { return first < second }
            }
            return one.path < other.path
        }
        let sorted = found.sorted { query.isReversed ? isBefore($1, $0) : isBefore($0, $1) }
        return query.limit.map { Array(sorted.prefix($0)) } ?? sorted
    }
}
