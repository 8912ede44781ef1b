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

    /// Gives a content another file if somebody can still write to the one that it has: a program that had it
    /// open, or mapped, by the kernel's passthrough when the daemon died goes on with that. What it writes
    /// from here on is nobody's. Nothing is done where there is no room.
    package func takeFromWriters(_ node: NodeNumber) {
        // What has no file is written by nobody.
        if packed.contains(node) || !isWritten(node) { return }
        let path = folder.spare + "/" + String(takeSpare())
        do throws(Errno) {
            let source = try Self.openFile(folder.staging(node), O_RDONLY)
            let status = FileStatus(try source.status())
            let copy = try OwnedDescriptor.open(path, O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
            try copy.copyContent(of: source, size: status.size)
            try copy.setModified(status.modified.seconds, status.modified.nanoseconds)
            // An fsync may have returned for it.
            try check { fsync(copy.number) }
            try check { rename(path, folder.staging(node)) }
        } catch {
            unlink(path)
        }
        forget(node)
    }

    /// Lets nobody change a content's file until ``thaw(_:)``, not by a mapping either that the kernel makes
    /// of it for somebody who writes; says whether there is a file. Needs a file system that has immutable
    /// files.
    package func freeze(_ content: ContentReference) throws(Errno) -> Bool {
        guard let file = try open(content) else { return false }
        try file.with { (file) throws(Errno) in
            let inode = try UInt64(file.status().st_ino)
            try frozen.withLock { (frozen) throws(Errno) in
                try file.setImmutable(true)
                frozen[inode, default: 0] += 1
            }
        }
        return true
    }

    /// One of those for whom the content is frozen is done.
    package func thaw(_ content: ContentReference) {
        guard let file = try? open(content) else { return }
        try? file.with { (file) throws(Errno) in
            let inode = try UInt64(file.status().st_ino)
            try frozen.withLock { (frozen) throws(Errno) in
                let left = (frozen[inode] ?? 1) - 1
                frozen[inode] = left > 0 ? left : nil
                if left <= 0 { try file.setImmutable(false) }
            }
        }
    }
}
