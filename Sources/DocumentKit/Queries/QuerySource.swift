internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Where the results of a query come from. For one thread at a time.
protocol QuerySource: AnyObject {
    /// What is found first, in the query's order.
    func results() throws(Failure) -> [FoundItem]
    /// Readable when something happened.
    var descriptor: Int32 { get }
    /// What happened comes as batches already.
    var isBatched: Bool { get }
    /// Takes what happened; does not wait. Says whether there may be other results. Throws when nothing
    /// will happen any more.
    func take() throws(Failure) -> Bool
    /// What is found now, and how that is another list than the one before if that is known.
    func update() -> (difference: ListDifference?, results: [FoundItem])
}

/// A query of a folder outside of containers, or in the mount of another user.
final class FolderQuery: QuerySource {
    private let query: Query
    private let inotify: Inotify
    private let tree: FolderTree

    init(_ query: Query, in folder: String) throws(Failure) {
        guard !query.needsTexts, query.tag == nil else {
            throw Failure(
                .usage,
                "\(folder): words, titles and tags are known in containers of one's own only")
        }
        self.query = query
        do throws(Errno) {
            inotify = try Inotify()
            tree = try FolderTree(folder, inotify)
        } catch { throw Failure(.inputOutput, Inotify.problem(error, at: folder)) }
    }

    var descriptor: Int32 { inotify.number }

    var isBatched: Bool { false }

    func take() throws(Failure) -> Bool {
        let events = inotify.take()
        // What has its name now, if anything, is another folder.
        guard tree.isThere else {
            throw Failure(.noInput, "\(tree.root): the folder was moved or removed")
        }
        _ = tree.follow(events)
        return true
    }

    func update() -> (difference: ListDifference?, results: [FoundItem]) { (nil, results()) }

    func results() -> [FoundItem] {
        let selection = Selection(query)
        var found: [Found] = []
        for (key, entry) in tree.entries.all {
            let path = key.text
            let isHidden = path.pathNames.contains { $0.utf8.first == UInt8(ascii: ".") }
            if isHidden, !query.hidden { continue }
            let facts = Selection.Facts(
                isRegular: entry.kind == S_IFREG, isFolder: entry.isFolder,
                size: [S_IFREG, S_IFLNK].contains(entry.kind) ? entry.stamp.size : 0,
                modified: Timestamp(entry.stamp.modifiedTime), isPromise: false)
            let name = String(path.lastName).pathBytes
            guard name.withUnsafeBytes({ selection.accepts($0, facts) }) else { continue }
            found.append(
                Found(
                    item: ItemNumber(rawValue: entry.stamp.inode),
                    document: DocumentID(rawValue: 0), path: path, isFolder: facts.isFolder,
                    size: facts.size, modified: facts.modified, isPromise: false))
        }
        return selection.ordered(found).map { FoundItem($0, in: tree.root) }
    }
}
