internal import Catalog
internal import Coordination
internal import Model
internal import PathText
internal import Pictures

/// What stands below `.shapeedit` at the root of a mount. Of pictures the kernel may know hundreds of
/// thousands: whatever is larger than one is kept apart (`indirect`).
enum VirtualNode: Hashable, Sendable {
    case top
    case status
    /// The numbers of the status, for programs that collect such.
    case metrics
    /// What happens, after a change or from now on.
    case events(ChangeSequence?)
    case documents
    /// A symlink to where the document was when it was looked up. The kernel keeps what a symlink
    /// says, so another path is another node.
    case document(DocumentID, path: [UInt8])
    case bookmarks
    /// A symlink to where its document was when it was looked up.
    case bookmark(BookmarkID, path: [UInt8])
    /// What is granted to whom.
    case grants
    /// Where mounts of applications come to what was granted to them.
    case granted
    /// The same by this container's name, so that nobody takes another's mount for it.
    case grantedHere
    /// An application's documents, by their ids.
    case grantedTo(String)
    /// A list of them.
    case grantedNames(String)
    /// Queries by name, among an application's documents.
    case grantedFind(String)
    /// The results of one.
    indirect case grantedFindings(String, Query)
    /// An application's bell and how often it had rung before (``GrantBells``).
    case grantedBell(String, UInt64)
    /// Nodes of former versions, for the process that repeats changes (``FormerNodes``).
    case former
    /// Queries by name.
    case find
    /// The results of a query.
    indirect case findings(Query)
    case queries
    /// The results of a saved query, by its name. Names and paths of nodes are the same by their bytes
    /// only: those that look alike are two.
    case query(PathKey)
    /// A symlink to where a query found something.
    case found(PathKey)
    /// Documents that have conflict versions.
    case conflicts
    case recents
    /// A symlink to where the document was when it was looked up.
    case recent(DocumentID, path: [UInt8], opened: Timestamp)
    case versions
    /// Mirrors a directory: its documents are folders of their earlier versions. Its place, the number
    /// of the folder that it is in, belongs to it: the kernel knows a directory in one folder only, and
    /// takes it from there to another under a lock that it does not wait for. While programs rename
    /// between folders, who looks at one that was moved would be told ESTALE.
    case versionsBelow(ItemNumber, in: UInt64)
    /// The earlier versions of a document, in the folder of that number: by each of its names.
    case history(DocumentID, in: UInt64)
    case version(ItemNumber, Ordinal)
    case thumbnails
    /// Mirrors the root, with pictures of one size in place of documents.
    case thumbnailsOf(PictureSize)
    case thumbnailsBelow(PictureSize, ItemNumber)
    case picture(PictureNode)

    /// The folder of one size that mirrors a directory.
    static func thumbnails(of directory: ItemNumber, _ size: PictureSize) -> VirtualNode {
        directory == .root ? .thumbnailsOf(size) : .thumbnailsBelow(size, directory)
    }
}

extension VersionRow {
    /// The version's file name: when it was published (UTC), its name, the document's extension. One
    /// that is too long for a name with it is none: what is copied has to have a place on any disk.
    func fileName(suffix: String) -> String {
        let name = "\(published.compactText)-\(node.versionName)"
        return name.utf8.count + suffix.pathBytes.count > Limits.name ? name : name + suffix
    }
}
