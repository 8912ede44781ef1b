internal import Documents
internal import Model
internal import PathText
internal import Varlink

/// An item that a query found, under one of its names.
public struct FoundItem: Hashable, Sendable {
    /// Absolute, as `PathText` makes it.
    public var path: String
    /// The inode number.
    public var item: Int
    /// The document's identity in its container; empty outside of containers.
    public var document: String
    /// It is a folder.
    public var isFolder: Bool
    /// Bytes; 0 of folders.
    public var size: Int
    /// The last change, UTC to the nanosecond: `2026-11-21T19:45:52.123456789Z`. In order as text.
    public var modified: String
    /// A promise: the content is only in the store, or where it was imported from.
    public var isPromise: Bool
    /// What it is called apart from its name; `nil` if it has no title, or the query
    /// neither needs titles nor wants them told (`Query.titled`).
    public var title: String?
}

extension FoundItem {
    /// Whether all is the same, paths by their bytes: names that look alike are two names.
    public static func == (one: FoundItem, other: FoundItem) -> Bool {
        PathKey(one.path) == PathKey(other.path) && one.item == other.item
            && one.document == other.document && one.isFolder == other.isFolder
            && one.size == other.size && one.modified == other.modified
            && one.isPromise == other.isPromise && one.title == other.title
    }

    /// Reads a result as the daemon tells it; `nil` if it is none.
    init?(_ object: JSONObject, in mountPoint: String) {
        guard let path = object.path("path"), let item = object["item"]?.integer,
            let document = object["document"]?.string,
            // The size of a sparse file can be beyond the integers that all readers of JSON know.
            case .number(let sizeText)? = object["size"], let size = Int(sizeText.text),
            let modified = object["modified"]?.string,
            let isPromise = object["promise"]?.boolean, let isFolder = object["folder"]?.boolean
        else { return nil }
        self.init(
            path: mountPoint + "/" + path, item: item, document: document, isFolder: isFolder,
            size: size, modified: modified, isPromise: isPromise,
            title: object["title"]?.string)
    }

    /// What was found below a folder outside of containers.
    init(_ found: Found, in folder: String) {
        self.init(
            path: (folder == "/" ? "" : folder) + "/" + found.path,
            item: Int(truncatingIfNeeded: found.item.rawValue), document: "",
            isFolder: found.isFolder, size: Int(found.size), modified: found.modified.exactText,
            isPromise: false)
    }
}
