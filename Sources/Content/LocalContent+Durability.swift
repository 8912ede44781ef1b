internal import Glibc
package import Model
internal import PathText
package import SystemCalls

/// What of the contents survives a loss of power.
///
/// What the kernel could not write to a disk it takes for written, and says so once: the next sync succeeds
/// without it. So no such sync is believed afterwards. What was lost is in memory still, and gets another file:
/// in its own, ext4 may go on taking for empty what is written there once more. The kernel takes its pages for
/// clean, though, and may drop them before: they are zeros then, which nothing tells from what was written.
extension LocalContent {
    /// What the disk has lost.
    struct Losses {
        /// Something, of whatever file.
        var isAny = false
        /// What the last try to write a content said that is not on the disk as a whole.
        var contents: [NodeNumber: Errno] = [:]
        /// Blobs that are not on the disk as a whole.
        var blobs: Set<ContentHash> = []
    }

    /// Whether a sync of the whole disk speaks for all contents: it always has succeeded.
    package var trustsDisk: Bool { losses.withLock { !$0.isAny } }

    /// Why the content of a session is not on the disk, though an fsync has tried; `nil` if none has failed.
    package func loss(of node: NodeNumber) -> Errno? { losses.withLock { $0.contents[node] } }

    func forgetLoss(of node: NodeNumber) {
        losses.withLock { _ = $0.contents.removeValue(forKey: node) }
    }

    /// Brings the file of a session's content to the disk. Once that has failed it fails for good: the file
    /// cannot be another one while somebody writes it.
    package func synchronize(_ node: NodeNumber, _ file: SharedDescriptor) throws(Errno) {
        if let loss = loss(of: node) { throw loss }
        do throws(Errno) {
            _ = try file.with { (file) throws(Errno) in try check { fsync(file.number) } }
        } catch {
            losses.withLock { $0.contents[node] = error }
            throw error
        }
    }

    /// Brings a staged content that nobody writes any more to the disk: if need be by another file, now or
    /// when this is tried again.
    package func makeDurable(_ node: NodeNumber, _ file: SharedDescriptor) throws(Errno) {
        if loss(of: node) == nil, (try? synchronize(node, file)) != nil { return }
        defer { forget(node) }
        try renew(folder.staging(node))
        forgetLoss(of: node)
    }

    /// The same for a blob; nothing if it is not here.
    package func synchronizeBlob(_ hash: ContentHash) throws(Errno) {
        guard hasBlob(hash) else { return }
        let path = folder.blob(hash)
        if losses.withLock({ $0.blobs.contains(hash) }) {
            try renew(path)
            losses.withLock { _ = $0.blobs.remove(hash) }
            return
        }
        do throws(Errno) { try Self.openFile(path, O_RDONLY).synchronizeData() } catch {
            losses.withLock { _ = $0.blobs.insert(hash) }
            throw error
        }
    }

    /// Gives a content that nobody writes another file, which is on the disk.
    private func renew(_ path: String) throws(Errno) {
        try replaceFile(path) { (copy, source, size) throws(Errno) in
            try copy.copyBytes(of: source, size: size)
        }
        // Else it is the file before again after a loss of power.
        try Directories.synchronize(path.parentPath)
    }

    static func openDisk(of folder: ContainerFolder) throws(Errno) -> SharedDescriptor {
        SharedDescriptor(try OwnedDescriptor.open(folder.path, O_RDONLY))
    }

    /// Writes out the disk that holds the container.
    package func synchronizeDisk() throws(Errno) {
        let opened = if let disk { disk } else { try Self.openDisk(of: folder) }
        do throws(Errno) {
            try opened.with { (folder) throws(Errno) in try folder.synchronizeFileSystem() }
        } catch {
            losses.withLock { $0.isAny = true }
            throw error
        }
    }

    /// Everything that was published before this moment is on the disk; none where that cannot be read.
    package func durableUntil() -> Timestamp {
        (try? notedDurability()) ?? Timestamp(rawValue: 0)
    }

    /// The same for recovery, to which none is the end of what has no hash: fails where it cannot be read now.
    package func notedDurability() throws(Errno) -> Timestamp {
        var status = stat()
        do throws(Errno) { try check { stat(folder.durable.cPath, &status) } } catch {
            guard [ENOENT, ELOOP].contains(error.code) else { throw error }
            return Timestamp(rawValue: 0)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return Timestamp(rawValue: 0) }
        let file = try OwnedDescriptor.open(folder.durable, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 8)
        let count = try file.read(into: &bytes, at: 0)
        let value = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return Timestamp(rawValue: count == 8 ? value : 0)
    }

    /// Writes out the disk that holds the container, and notes that what was published before
    /// `moment` is durable. One sync for any number of versions.
    ///
    /// - Parameter isSettled: each of those versions is known to be on the disk by itself. Else EIO where syncs
    ///   of the disk are not believed.
    package func synchronize(until moment: Timestamp, isSettled: Bool = false) throws(Errno) {
        try synchronizeDisk()
        guard isSettled || trustsDisk else { throw Errno(EIO) }
        // A pipe or the like holds nothing, and no moment could be noted in it.
        var status = stat()
        if lstat(folder.durable.cPath, &status) == 0,
            [S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK, S_IFLNK].contains(status.st_mode & S_IFMT)
        {
            unlink(folder.durable.cPath)
        }
        let file = try OwnedDescriptor.openOwn(folder.durable, O_RDWR)
        // Eight bytes within one sector: there is no state between the old value and the new.
        var value = moment.rawValue
        try file.write(withUnsafeBytes(of: &value) { Array($0) }, at: 0)
        try file.synchronizeData()
    }
}
