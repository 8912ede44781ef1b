internal import Glibc
package import Model
package import SystemCalls

extension LocalContent {
    /// Whether somebody but the daemon can still write the staging file: a mapping of a file that
    /// the kernel passed through lives on after its descriptor's RELEASE, because it holds the
    /// backing file and not ours.
    ///
    /// To be asked when no open for writing is on its way. May answer yes for a moment after the
    /// last close, while the kernel lets go.
    package func isWritten(_ node: NodeNumber) -> Bool {
        guard isOpenBesides(node) else { return false }
        // Perhaps only readers stood against it. Without a writing descriptor of our own the kernel
        // tells the two apart.
        forget(node)
        guard let plain = try? OwnedDescriptor.open(folder.staging(node), O_RDONLY) else {
            return false
        }
        return plain.isWritten
    }

    /// Whether the staging file is open besides ours, to read or to write.
    ///
    /// A function of its own, so that the descriptor is let go when it returns: a local variable lives
    /// to the end of its scope.
    @inline(never)
    private func isOpenBesides(_ node: NodeNumber) -> Bool {
        guard let own = try? openStaging(node) else { return false }
        return (try? own.with { (file) throws(Errno) in file.isWritten }) ?? false
    }

    /// The staging file of a session to be lent to the kernel, which opens it anew for each handle: only
    /// for reading, so that it does not count as one that writes as long as anybody has it open.
    package func openForLending(_ node: NodeNumber) throws(Errno) -> OwnedDescriptor {
        try Self.openFile(folder.staging(node), O_RDONLY)
    }
}
