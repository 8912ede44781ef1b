import Glibc
import PathText
import SystemCalls

/// Tells when something happens in a document's folder. A file that is replaced is another one, so
/// the folder is watched and not the file. Where there is no inotify, nothing is told.
struct FileWatch: ~Copyable {
    private let watch: OwnedDescriptor?

    /// - Parameter path: of the document, absolute.
    init(_ path: String) {
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else {
            watch = nil
            return
        }
        let kinds = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB
        inotify_add_watch(number, path.parentPath.cPath, UInt32(kinds))
        watch = OwnedDescriptor(adopting: number)
    }

    /// Readable when something happened; -1 if nothing is told.
    var descriptor: Int32 {
        switch watch {
        case .some(let watch): watch.number
        case .none: -1
        }
    }

    /// Forgets what happened so far.
    func drain() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while descriptor >= 0, read(descriptor, &buffer, buffer.count) > 0 {}
    }
}
