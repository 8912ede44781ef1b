internal import Documents
internal import Glibc
internal import Model
internal import SystemCalls

/// Where the results of a query come from. For one thread at a time.
protocol QuerySource: AnyObject {
    /// What is found now, in the query's order.
    func results() throws(Failure) -> [FoundItem]
    /// Readable when something happened.
    var descriptor: Int32 { get }
    /// Takes what happened; does not wait. Throws when nothing will happen any more.
    func take() throws(Failure)
}

/// A query of a mounted container, by `.shapeedit/find` and `.shapeedit/events`.
final class MountQuery: QuerySource {
    private let mountPoint: String
    private let query: Query
    /// From the first results on.
    private var events: OwnedDescriptor?

    /// - Parameter query: its folder is below the mount.
    init(_ query: Query, in mountPoint: String) {
        self.query = query
        self.mountPoint = mountPoint
    }

    var descriptor: Int32 {
        switch events {
        case .some(let events): events.number
        case .none: -1
        }
    }

    func results() throws(Failure) -> [FoundItem] {
        let (found, sequence, _) = try find()
        if descriptor < 0 {
            do throws(Errno) {
                events = try OwnedDescriptor.open(
                    mountPoint + "/.shapeedit/events-\(sequence)", O_RDONLY | O_NONBLOCK)
            } catch { throw gone(error) }
        }
        return found
    }

    /// The results, the change that they are at least as new as, and why some may be missing.
    func find() throws(Failure) -> (results: [FoundItem], sequence: Int, problem: String?) {
        let path = mountPoint + "/.shapeedit/find/" + query.description
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try WholeFile.read(try OwnedDescriptor.open(path, O_RDONLY), limit: 1 << 31)
        } catch {
            switch error.code {
            case ENOENT: throw Failure(.noInput, "\(mountPoint)/\(query.folder): \(error)")
            case EACCES, EPERM:
                throw Failure(
                    .noPermission, "\(mountPoint): only the owner of the mount may search")
            case ENAMETOOLONG: throw Failure(.usage, "the query is too long")
            default: throw Failure(.inputOutput, "\(mountPoint): \(error)")
            }
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        guard let head = (try? JSONValue.read(Array(bytes[..<end])))?.object,
            let sequence = head["sequence"]?.integer, let count = head["count"]?.integer
        else { throw Failure(.inputOutput, "\(path): the answer is not whole") }
        var found: [FoundItem] = []
        found.reserveCapacity(count)
        bytes.withUnsafeBytes { bytes in
            var reader = ResultReader(bytes, from: end, in: mountPoint)
            while let item = reader.next() { found.append(item) }
        }
        if found.count != count { throw Failure(.inputOutput, "\(path): the answer is not whole") }
        return (found, sequence, head["problem"]?.string)
    }

    private func gone(_ error: Errno) -> Failure {
        Failure(.unavailable, "\(mountPoint): the mount went away (\(error))")
    }

    func take() throws(Failure) {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        do throws(Errno) {
            while try check({ Glibc.read(descriptor, &block, block.count) }) > 0 {}
            throw Errno(ENODEV)
        } catch {
            if error.code != EAGAIN { throw gone(error) }
        }
    }
}

/// A query of a folder outside of containers.
final class FolderQuery: QuerySource {
    private let query: Query
    private let inotify: Inotify
    private let tree: FolderTree

    init(_ query: Query, in folder: String) throws(Failure) {
        guard !query.needsTexts, query.tag == nil else {
            throw Failure(
                .usage, "\(folder): words, titles and tags are known in containers only")
        }
        self.query = query
        do throws(Errno) {
            inotify = try Inotify()
            tree = try FolderTree(folder, inotify)
        } catch { throw Failure(.inputOutput, "\(folder): \(error)") }
    }

    var descriptor: Int32 { inotify.number }

    func take() { _ = tree.follow(inotify.take()) }

    func results() -> [FoundItem] {
        let selection = Selection(query)
        var found: [Found] = []
        for (path, entry) in tree.entries {
            let names = path.split(separator: "/")
            if !query.hidden, names.contains(where: { $0.hasPrefix(".") }) { continue }
            let (seconds, rest) = entry.stamp.modified.quotientAndRemainder(
                dividingBy: 1_000_000_000)
            let facts = Selection.Facts(
                isRegular: entry.kind == S_IFREG, isFolder: entry.isFolder,
                size: entry.kind == S_IFREG ? entry.stamp.size : 0,
                modified: Timestamp(seconds: seconds, nanoseconds: rest), isPromise: false)
            guard selection.accepts(names.last.map(String.init) ?? "", facts) else { continue }
            found.append(
                Found(
                    item: ItemNumber(rawValue: entry.stamp.inode),
                    document: DocumentID(rawValue: 0), path: path, isFolder: facts.isFolder,
                    size: facts.size, modified: facts.modified, isPromise: false))
        }
        return selection.ordered(found).map { FoundItem($0, in: tree.root) }
    }
}
