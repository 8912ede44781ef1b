package import Catalog
package import Model
internal import PathText

/// An item as queries see it, under each of its names.
package struct ItemView: Sendable {
    /// One of its names.
    struct Place: Sendable {
        /// What a query without titles finds here.
        var found: Found
        /// The last name of the path.
        var name: [UInt8]
        /// Where the last hidden name of the path begins, in bytes; `nil` if none is hidden.
        var lastHidden: Int?
    }
    package let item: ItemNumber
    let document: DocumentID
    let facts: Selection.Facts
    /// None if the item is gone.
    private(set) var places: [Place] = []
    /// Of all places.
    private(set) var traits = QueryGate.Traits()
    /// The value of its attribute (``ItemTags``).
    private(set) var tags: [UInt8]?

    /// - Parameter arrived: see ``Gathering/step(_:arrived:)``.
    package init(
        _ item: ItemNumber, _ index: MemoryIndex, arrived: [NodeNumber: ContentHash] = [:]
    ) {
        self.item = item
        let position = index.find(item)
        guard position != 0 else {
            document = DocumentID(rawValue: 0)
            facts = Selection.Facts(
                isRegular: false, isFolder: false, size: 0, modified: Timestamp(rawValue: 0),
                isPromise: false)
            return
        }
        let record = index[item: position]
        document = DocumentID(rawValue: record.pointee.document)
        facts = Selection.Facts(record, arrived)
        tags = index.attributes[position]?[ItemTags.attribute]
        var name = record.pointee.firstName
        while name != 0 {
            if let folder = index.path(of: index[name: name].pointee.parent) {
                note(Array(index.nameBytes(name)), in: folder)
            }
            name = index[name: name].pointee.nextOfItem
        }
    }

    private mutating func note(_ name: [UInt8], in folder: [UInt8]) {
        let path = folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
        let lastHidden = path.split(separator: UInt8(ascii: "/")).last {
            $0.first == UInt8(ascii: ".")
        }?.startIndex
        let found = Found(
            item: item, document: document, path: String(path: path),
            isFolder: facts.isFolder, size: facts.size, modified: facts.modified,
            isPromise: facts.isPromise)
        places.append(Place(found: found, name: name, lastHidden: lastHidden))
        traits.add(path: path, name: name)
    }
}
