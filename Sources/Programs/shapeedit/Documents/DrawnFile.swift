import Glibc
import SystemCalls

/// A document that is opened for its picture.
enum DrawnFile {
    /// To draw a document is not to use it: its access time stays. Others than its owner cannot say so.
    static func open(_ path: String) throws(Errno) -> OwnedDescriptor {
        let flags = O_RDONLY | O_NONBLOCK
        do throws(Errno) {
            return try OwnedDescriptor.open(path, flags | OwnedDescriptor.noAccessTime)
        } catch {
            if error.code != EPERM { throw error }
        }
        return try OwnedDescriptor.open(path, flags)
    }
}
