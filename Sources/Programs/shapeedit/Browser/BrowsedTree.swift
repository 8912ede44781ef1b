import Browser
import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// The folder that is browsed, with all that is below it, and a watch on it.
///
/// ``list()`` is for one thread; ``descriptor`` and ``drain()`` for another.
final class BrowsedTree: Sendable {
    /// Documents and folders that are looked at; of more, the nearest ones.
    static let documentLimit = 20_000
    private static let folderLimit = 2_000
    /// Events of a folder after which it is looked at again.
    private static let kinds = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB)

    /// Absolute, without a slash at its end.
    let path: String
    /// Of the mounted container it is in; nil outside.
    let mountPoint: String?
    private let watch: OwnedDescriptor?

    init(_ path: String) {
        self.path = path == "/" ? "" : path
        mountPoint = MountTable.mountPoint(of: path)
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        watch = number < 0 ? nil : OwnedDescriptor(adopting: number)
    }

    /// The name to show.
    var name: String { path.pathNames.last.map(String.init) ?? "/" }

    /// The absolute path of a document.
    func file(_ entry: String) -> String { path + "/" + entry }

    /// Readable when something happened in a folder that was listed; -1 if nothing is told.
    var descriptor: Int32 {
        switch watch {
        case .some(let watch): watch.number
        case .none: -1
        }
    }

    /// Forgets what happened so far.
    func drain() {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while descriptor >= 0, read(descriptor, &buffer, buffer.count) > 0 {}
    }

    /// All documents: regular files whose names do not begin with a dot and are not those of
    /// temporary files. What cannot be read below the folder is passed over. `isWhole` is false if there
    /// are more than are looked at: then those in folders near by come before those farther below, or one
    /// large folder would leave nothing else to be seen.
    ///
    /// - Parameter filter: of documents beyond the limit, too, those are given whose paths hold it, unless it
    ///   is empty; as many again.
    func list(_ filter: String) throws(Errno) -> (documents: [BrowserEntry], isWhole: Bool) {
        let wanted = filter.lowercased()
        var found: [BrowserEntry] = []
        var isWhole = true
        var seen = 0
        var folders: [(path: String, prefix: String)] = [(path.isEmpty ? "/" : path, "")]
        while seen < min(folders.count, Self.folderLimit) {
            let (folder, prefix) = folders[seen]
            seen += 1
            // Before it is read: what changes in between is told.
            if descriptor >= 0 { inotify_add_watch(descriptor, folder.cPath, Self.kinds) }
            let names: [String]
            do throws(Errno) { names = try Directories.names(in: folder) } catch {
                if seen == 1 { throw error }
                continue
            }
            for name in names where !name.hasPrefix(".") && !isTemporaryName(Array(name.utf8)) {
                var status = stat()
                let file = folder + "/" + name
                guard lstat(file.cPath, &status) == 0 else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: folders.append((file, prefix + name + "/"))
                case S_IFREG where found.count < Self.documentLimit:
                    found.append(Self.entry(prefix + name, status))
                case S_IFREG:
                    isWhole = false
                    if !wanted.isEmpty, found.count < 2 * Self.documentLimit,
                        BrowserEntry.path(prefix + name, holds: wanted)
                    {
                        found.append(Self.entry(prefix + name, status))
                    }
                default: break
                }
            }
        }
        return (found, isWhole && seen == folders.count)
    }

    private static func entry(_ path: String, _ status: stat) -> BrowserEntry {
        func nanoseconds(_ time: timespec) -> Int64 {
            Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        }
        let (modified, accessed) = (nanoseconds(status.st_mtim), nanoseconds(status.st_atim))
        return BrowserEntry(
            path: path, item: UInt64(status.st_ino), size: Int64(status.st_size),
            changed: nanoseconds(status.st_ctim),
            viewed: accessed > modified ? accessed : 0)
    }

    /// What the mount says of a document, without opening it; nil outside a mount.
    func details(_ entry: String) -> BrowserDetails? {
        guard mountPoint != nil else { return nil }
        func value(_ name: String) -> String? {
            (try? PathAttributes.value("user.shapeedit." + name, of: file(entry))).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        return BrowserDetails(
            state: value("state") ?? "", progress: value("progress").flatMap { Int($0) },
            pin: value("pin") ?? "")
    }
}
