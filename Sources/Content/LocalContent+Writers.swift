internal import Glibc
package import Model
internal import SystemCalls

extension LocalContent {
    /// Whether somebody but the daemon can still write the staging file: a mapping of a file that
    /// the kernel passed through lives on after its descriptor's RELEASE, because it holds the
    /// backing file and not ours.
    ///
    /// To be asked when no open for writing is on its way. May answer yes for a moment after the
    /// last close, while the kernel lets go.
    package func isWritten(_ node: NodeNumber) -> Bool {
        guard let own = try? openStaging(node) else { return false }
        if ((try? own.with { (file) throws(Errno) in file.isWritten }) ?? false) == false {
            return false
        }
        // Perhaps only readers stood against it. Without a writing descriptor of our own the kernel
        // tells the two apart.
        forget(node)
        guard let plain = try? OwnedDescriptor.open(folder.staging(node), O_RDONLY) else {
            return false
        }
        return plain.isWritten
    }
}
