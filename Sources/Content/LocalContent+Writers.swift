internal import Glibc
package import Model
internal import PathText
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
        if packed.contains(node) { return }
        let path = folder.staging(node)
        if isLeftFrozen(node) {
            thaw(path)
            if !isLeftFrozen(node) { return }
        } else if !isWritten(node) {
            return
        }
        do throws(Errno) {
            try replaceFile(path) { (copy, source, size) throws(Errno) in
                try copy.copyContent(of: source, size: size)
            }
        } catch {
            thaw(path, isToGo: true)
        }
        forget(node)
    }

    /// Puts a copy in the place of a file, which then is on the disk.
    func replaceFile(
        _ path: String,
        _ copy: (borrowing OwnedDescriptor, borrowing OwnedDescriptor, Int64) throws(Errno) -> Void
    ) throws(Errno) {
        let spare = folder.spare + "/" + String(takeSpare())
        do throws(Errno) {
            let source = try Self.openFile(path, O_RDONLY)
            let status = FileStatus(try source.status())
            let new = try OwnedDescriptor.openOwn(spare, O_RDWR | O_TRUNC)
            try copy(new, source, status.size)
            try new.setModified(status.modified.seconds, status.modified.nanoseconds)
            try check { fsync(new.number) }
            thaw(path, isToGo: true)
            try check { rename(spare.cPath, path.cPath) }
        } catch {
            unlink(spare.cPath)
            throw error
        }
    }

    /// Whether a staged content's file is immutable, as a crash leaves one that was frozen.
    package func isLeftFrozen(_ node: NodeNumber) -> Bool {
        // Only so it is refused to root.
        access(folder.staging(node).cPath, W_OK) != 0 && errno == EPERM
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
                frozen[inode, default: (content, 0)].count += 1
            }
        }
        return true
    }

    /// One of those for whom the content is frozen is done.
    ///
    /// - Returns: `false` if it is not yet: it was the last one, and somebody can still write to the file. A
    ///   mapping that the kernel passes through outlives its descriptor.
    package func thaw(_ content: ContentReference) -> Bool {
        // A writing descriptor of our own would count.
        forget(content.node)
        guard let file = try? openApart(content, anyLength: true),
            let inode = try? UInt64(file.status().st_ino)
        else { return true }
        return frozen.withLock { frozen in
            if let count = frozen[inode]?.count, count > 1 {
                frozen[inode]?.count = count - 1
                return true
            }
            if file.isWritten { return false }
            try? file.setImmutable(false)
            frozen[inode] = nil
            return true
        }
    }

    /// The mount ends, and with it what contents were frozen for; not those that somebody can still write to,
    /// as where it was taken away lazily.
    package func thawAll() {
        let contents = frozen.withLock { frozen in
            defer { frozen = [:] }
            return frozen.values.map(\.content)
        }
        for content in contents { thaw(path(of: content)) }
    }

    /// Takes the immutable flag away that a crash may have left; not that of a file which is frozen, nor
    /// while a program of the mount that crashed can write to it by a mapping.
    ///
    /// - Parameter isToGo: the file is nobody's any more, whoever writes to it.
    func thaw(_ path: String, isToGo: Bool = false) {
        guard geteuid() == 0, let file = try? OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW),
            let inode = try? UInt64(file.status().st_ino)
        else { return }
        frozen.withLock { frozen in
            if frozen[inode] == nil, isToGo || !file.isWritten { try? file.setImmutable(false) }
        }
    }
}
