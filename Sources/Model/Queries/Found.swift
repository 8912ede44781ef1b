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

    package init(
        item: ItemNumber, document: DocumentID, path: String, isFolder: Bool, size: Int64,
        modified: Timestamp, isPromise: Bool, title: String? = nil
    ) {
        self.item = item
        self.document = document
        self.path = path
        self.isFolder = isFolder
        self.size = size
        self.modified = modified
        self.isPromise = isPromise
        self.title = title
    }

    /// Behind the last slash of ``path``.
    package var name: Substring { path.split(separator: "/").last ?? "" }
    /// Behind the last dot of the name, in lower case; empty if there is none.
    var type: String { Self.type(of: name) }

    static func type(of name: some StringProtocol) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }
}
