package import Catalog
package import Model
internal import PathText

/// What a query needs to know of documents besides what the index has.
package struct Knowledge: Sendable {
    /// Titles of documents, if they are wanted; empty for those that have none.
    package var titles: [DocumentID: String] = [:]
    /// Only these; nil: all.
    package var documents: Set<DocumentID>?
    /// Only these; nil: all.
    package var items: Set<ItemNumber>?

    package init() {}

    /// `nil` if it has none, or none is wanted.
    package func title(of document: DocumentID) -> String? {
        titles[document].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Looks at the items of a container one directory after the other, so that whoever guards the index
/// can let others in between. What is moved meanwhile may be missed or found twice; whoever needs more
/// follows the changes since.
package struct Gathering {
    private let query: Query
    private let selection: Selection
    private let knowledge: Knowledge
    /// In no order.
    package private(set) var found: [Found] = []
    /// Directories that are still to be looked at, with where to go on; paths end with a slash.
    private var open: [(item: ItemNumber, path: String, cursor: UInt64)] = []
    /// Names and directories looked at in one step.
    private static let step = 512

    package init(_ query: Query, _ knowledge: Knowledge = Knowledge()) {
        self.query = query
        selection = Selection(query)
        self.knowledge = knowledge
    }

    /// Finds the folder of the query; says whether there is one.
    package mutating func begin(_ index: MemoryIndex) -> Bool {
        let names = query.folder.split(separator: "/")
        let position = index.item(at: query.folder.pathBytes)
        guard position != 0, index[item: position].pointee.isDirectory else { return false }
        let path = names.isEmpty ? "" : names.joined(separator: "/") + "/"
        open = [(ItemNumber(rawValue: index[item: position].pointee.number), path, 0)]
        return true
    }

    /// Looks at some names more; says whether there are others left.
    ///
    /// - Parameter arrived: contents that are here though the index does not say so yet.
    package mutating func step(
        _ index: MemoryIndex, arrived: [NodeNumber: ContentHash] = [:]
    ) -> Bool {
        var count = 0
        while count < Self.step, let directory = open.popLast() {
            // Also of those in which there is nothing: there may be a hundred thousand.
            count += 1
            let position = index.find(directory.item)
            // Gone since.
            if position == 0 { continue }
            var name = index.child(of: position, after: directory.cursor)
            while name != 0 {
                look(at: name, in: directory.path, index, arrived)
                count += 1
                if count >= Self.step {
                    open.append((directory.item, directory.path, index.cursor(name)))
                    break
                }
                name = index[name: name].pointee.next
            }
        }
        return !open.isEmpty
    }

    private mutating func look(
        at name: MemoryIndex.Position, in folder: String, _ index: MemoryIndex,
        _ arrived: [NodeNumber: ContentHash]
    ) {
        let bytes = index.nameBytes(name)
        if !query.hidden, bytes.first == UInt8(ascii: ".") { return }
        let record = index[item: index[name: name].pointee.item]
        let item = ItemNumber(rawValue: record.pointee.number)
        if record.pointee.isDirectory {
            open.append((item, folder + String(path: bytes) + "/", 0))
        }
        let facts = Selection.Facts(record, arrived)
        if let items = knowledge.items, !items.contains(item) { return }
        let document = DocumentID(rawValue: record.pointee.document)
        if let documents = knowledge.documents, !documents.contains(document) { return }
        if !selection.accepts(bytes, facts) { return }
        found.append(
            Found(
                item: item, document: document,
                path: folder + String(path: bytes),
                isFolder: facts.isFolder, size: facts.size, modified: facts.modified,
                isPromise: facts.isPromise, title: knowledge.title(of: document)))
    }
}

extension Selection.Facts {
    /// - Parameter arrived: see ``Gathering/step(_:arrived:)``.
    package init(
        _ record: UnsafeMutablePointer<ItemRecord>, _ arrived: [NodeNumber: ContentHash]
    ) {
        let isRegular = record.pointee.isRegular
        self.init(
            isRegular: isRegular, isFolder: record.pointee.isDirectory,
            size: isRegular || record.pointee.isSymlink ? record.pointee.size : 0,
            modified: Timestamp(rawValue: record.pointee.modified),
            isPromise: isRegular && record.pointee.place.isAway
                && arrived[record.pointee.node] == nil)
    }
}
