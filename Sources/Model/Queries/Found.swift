internal import PathText

/// An item that a query found, under one of its names.
package final class Found: Sendable {
    package let item: ItemNumber
    package let document: DocumentID
    /// Below the root, as `PathText` makes it.
    package let path: String
    package let isFolder: Bool
    /// Bytes; 0 of folders.
    package let size: Int64
    package let modified: Timestamp
    package let isPromise: Bool
    /// What it is called apart from its name; nil if it has no title, or nobody asked for titles.
    package let title: String?

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
    package var name: Substring { path.lastName }

    /// Behind the last dot of the name, in lower case; empty if there is none.
    var type: String {
        let name = name
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
            return ""
        }
        return name[name.utf8.index(after: dot)...].lowercased()
    }
}

extension Found: Equatable {
    package static func == (one: Found, other: Found) -> Bool {
        one === other
            || one.item == other.item && one.size == other.size && one.modified == other.modified
                && one.document == other.document && one.isFolder == other.isFolder
                && one.isPromise == other.isPromise
                // As bytes: names that look alike are two names.
                && one.path.utf8.elementsEqual(other.path.utf8) && one.title == other.title
    }
}
