internal import Glibc
package import Model
internal import PathText
package import SystemCalls

/// The bytes of one version or session: which file holds them.
package struct ContentReference: Hashable, Sendable {
    package var node: NodeNumber
    package var place: ContentPlace
    package var hash: ContentHash?
    package var size: Int64

    package init(node: NodeNumber, place: ContentPlace, hash: ContentHash?, size: Int64) {
        self.node = node
        self.place = place
        self.hash = hash
        self.size = size
    }
}

/// The contents of a container on the local disk. Any thread; blocks on the disk only.
package final class LocalContent: Sendable {
    package let folder: ContainerFolder
    let cache = DescriptorCache()
    /// Contents without a file of their own.
    package let packed: PackedContents
    /// Held while one gets its file.
    let spilling = Lock(())
    /// Spare files that are kept; each takes an inode and no blocks.
    private static let spareLimit = 16_384
    private let spares = Lock((list: [Int](), next: 0))

    /// Files that nobody may change just now, by inode, whose they are, and for how many (``freeze(_:)``).
    let frozen = Lock<[UInt64: (content: ContentReference, count: Int)]>([:])

    /// Until when there is more room than can be used up meanwhile (monotonic nanoseconds).
    let ampleUntil = Lock<UInt64>(0)

    /// The container's folder, open from the beginning: whoever opens it later is not told of what the disk
    /// has lost before, if another program was told of it.
    let disk: SharedDescriptor?
    /// What the disk has lost, as far as it was told (``makeDurable(_:_:)``).
    let losses = Lock(Losses())

    package init(folder: ContainerFolder) {
        self.folder = folder
        packed = PackedContents(folder: folder.packs)
        disk = try? Self.openDisk(of: folder)
    }

    /// The open content; `nil` if it has no bytes at all (``ContentPlace/none``).
    ///
    /// A staged content that has been sealed meanwhile, or a sealed one whose move was cut off, is
    /// found in its other place. Throws ENOENT only if the file is missing in both: for a promise
    /// that says that it has not come; EIO if it is not as long as it was published.
    ///
    /// - Parameter anyLength: a file of another length is opened as well.
    package func open(_ content: ContentReference, anyLength: Bool = false) throws(Errno)
        -> SharedDescriptor?
    {
        if content.place == .none { return nil }
        if let known = cache.find(content.node) {
            // Recovery looks at files whatever their length, and leaves them open.
            if !anyLength, try known.status().size != content.size { throw Errno(EIO) }
            return known
        }
        guard let descriptor = try openApart(content, anyLength: anyLength) else { return nil }
        let shared = SharedDescriptor(descriptor)
        cache.insert(shared, for: content.node)
        return shared
    }

    /// The same with a descriptor that nobody else has and that can only read.
    package func openApart(_ content: ContentReference, anyLength: Bool = false) throws(Errno)
        -> OwnedDescriptor?
    {
        if content.place == .none { return nil }
        try spill(content.node)
        let staging = folder.staging(content.node)
        let size = anyLength ? nil : content.size
        guard let hash = content.hash else {
            return try Self.openFile(staging, O_RDONLY, size: size)
        }
        if content.place.isNamed {
            return try Self.open(folder.blob(hash), or: staging, O_RDONLY, size: size)
        }
        return try Self.open(staging, or: folder.blob(hash), O_RDONLY, size: size)
    }

    /// Where a content's file is now; it may be moved among the blobs at any time.
    package func path(of content: ContentReference) -> String {
        let staging = folder.staging(content.node)
        guard let hash = content.hash, access(staging.cPath, F_OK) != 0 else { return staging }
        return folder.blob(hash)
    }

    /// Whether a content that should be among the blobs is not there, or has another length. Nothing is opened.
    package func isDamaged(_ content: ContentReference) -> Bool {
        guard content.place.isBlob else { return false }
        var status = stat()
        return stat(path(of: content).cPath, &status) != 0
            || status.st_mode & S_IFMT != S_IFREG || Int64(status.st_size) != content.size
    }

    private static func open(
        _ first: String, or second: String, _ flags: Int32, size: Int64? = nil
    ) throws(Errno) -> OwnedDescriptor {
        do throws(Errno) { return try openFile(first, flags, size: size) } catch {
            guard error.code == ENOENT else { throw error }
            return try openFile(second, flags, size: size)
        }
    }

    /// Opens a file of contents; by a symlink only to read. EIO for what is none, such as a pipe that was put in
    /// its place: to open that would wait for ever; and for one that has not `size` bytes, where that is known:
    /// its readers would take what is left for all there is.
    static func openFile(_ path: String, _ flags: Int32, size: Int64? = nil) throws(Errno)
        -> OwnedDescriptor
    {
        var status = stat()
        try check { stat(path.cPath, &status) }
        let length = Int64(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG, length == size ?? length else { throw Errno(EIO) }
        return try OwnedDescriptor.open(
            path, flags & O_ACCMODE == O_RDONLY ? flags : flags | O_NOFOLLOW)
    }

    // MARK: Staging

    /// Whether a content's file is among the staging files, whatever is recorded of it. One that only cannot be
    /// looked at now is.
    package func isStaged(_ node: NodeNumber) -> Bool {
        access(folder.staging(node).cPath, F_OK) == 0 || errno != ENOENT
    }

    /// Makes an empty staging file for `node`.
    package func createStaging(_ node: NodeNumber) throws(Errno) -> SharedDescriptor {
        let path = folder.staging(node)
        if let number = spares.withLock({ $0.list.popLast() }) {
            _ = rename((folder.spare + "/" + String(number)).cPath, path.cPath)
        }
        let shared = SharedDescriptor(try OwnedDescriptor.openOwn(path, O_RDWR | O_TRUNC))
        cache.insert(shared, for: node)
        return shared
    }

    /// Makes a staging file with the first `size` bytes of `base`. Removes what it began on failure.
    ///
    /// - Parameter anyLength: as of ``open(_:anyLength:)``.
    package func createStaging(
        _ node: NodeNumber, copyOf base: ContentReference, size: Int64, anyLength: Bool = false
    ) throws(Errno) -> SharedDescriptor {
        let source = try open(base, anyLength: anyLength)
        let staging = try createStaging(node)
        guard let source else { return staging }
        do throws(Errno) {
            try staging.with { (target) throws(Errno) in
                try source.with { (source) throws(Errno) in
                    try target.copyContent(of: source, size: size)
                }
            }
        } catch {
            removeStaging(node)
            throw error
        }
        return staging
    }

    /// The staging file of a session, for reading and writing.
    package func openStaging(_ node: NodeNumber) throws(Errno) -> SharedDescriptor {
        if let known = cache.find(node) { return known }
        try spill(node)
        let shared = SharedDescriptor(try Self.openFile(folder.staging(node), O_RDWR))
        cache.insert(shared, for: node)
        return shared
    }

    package func removeStaging(_ node: NodeNumber) {
        if packed.remove(node) { return }
        cache.remove(node)
        forgetLoss(of: node)
        remove(folder.staging(node))
    }

    /// Removes a file, also one that a crash left immutable.
    func remove(_ path: String) {
        if unlink(path.cPath) == 0 || errno != EPERM { return }
        thaw(path, isToGo: true)
        unlink(path.cPath)
    }

    /// Keeps the open file of a node for whoever asks next.
    func insert(_ descriptor: SharedDescriptor, for node: NodeNumber) {
        cache.insert(descriptor, for: node)
    }

    /// Lets the descriptor of a node that nobody will ask for soon go.
    package func forget(_ node: NodeNumber) { cache.remove(node) }

    // MARK: Removing

    /// Removes a blob that no version refers to and nobody has open.
    package func removeBlob(_ hash: ContentHash) {
        recycle(folder.blob(hash))
        forgetIncoming(hash)
    }

    /// Removes a staged content that nobody has open.
    package func removeUnused(_ node: NodeNumber) {
        if packed.remove(node) { return }
        cache.remove(node)
        forgetLoss(of: node)
        recycle(folder.staging(node))
    }

    /// Empties a file that nobody has open and keeps it for ``createStaging(_:)``: on ext4 making a
    /// new inode costs many times as much, above all shortly after others were removed.
    ///
    /// A mapping that the kernel passes through outlives its handle: the file of one is left to it.
    private func recycle(_ path: String) {
        // One that is being drawn has another name, and is left to that.
        if OddFile.isAt(path) || isInUse(path) {
            unlink(path.cPath)
            return
        }
        let number = spares.withLock { spares -> Int? in
            if spares.list.count >= Self.spareLimit { return nil }
            spares.next += 1
            return spares.next
        }
        let spare = folder.spare + "/" + String(number ?? 0)
        var moved = number != nil && rename(path.cPath, spare.cPath) == 0
        if !moved, errno == EPERM {
            thaw(path)
            moved = number != nil && rename(path.cPath, spare.cPath) == 0
        }
        guard let number, moved else {
            remove(path)
            return
        }
        if truncate(spare.cPath, 0) == 0 {
            spares.withLock { $0.list.append(number) }
        } else {
            unlink(spare.cPath)
        }
    }

    private func isInUse(_ path: String) -> Bool {
        do throws(Errno) {
            let file = try OwnedDescriptor.open(path, O_RDWR | O_NOFOLLOW)
            let links = try file.status().st_nlink
            return links > 1 || file.isWritten
        } catch {
            // What cannot be looked at for a moment may be; but nobody writes to what is immutable.
            return error.code != EPERM
        }
    }

    /// The number of a spare file for the caller, which may have to be made.
    func takeSpare() -> Int {
        spares.withLock { spares in
            if let number = spares.list.popLast() { return number }
            spares.next += 1
            return spares.next
        }
    }

    /// Takes over the spare files of an earlier run.
    package func adoptSpares() {
        for name in (try? Directories.names(in: folder.spare)) ?? [] {
            guard let number = ContainerFolder.number(of: name) else { continue }
            let path = folder.spare + "/" + name
            spares.withLock { $0.next = max($0.next, number) }
            var status = stat()
            // What is no file is not ours, and what a link leads to even less.
            guard lstat(path.cPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                continue
            }
            if truncate(path.cPath, 0) == 0 {
                spares.withLock { $0.list.append(number) }
            } else {
                unlink(path.cPath)
            }
        }
    }

    /// Moves a staged content to ``ContainerFolder/lost``: nothing refers to it, and it may be all that is
    /// left of what somebody saved.
    package func setAside(_ node: NodeNumber) throws(Errno) {
        try spill(node)
        cache.remove(node)
        try setAside(folder.staging(node), as: node.fileName)
    }

    /// The same for a sealed one; where it is now.
    @discardableResult
    package func setAside(_ hash: ContentHash) throws(Errno) -> String {
        try setAside(folder.blob(hash), as: hash.description)
    }

    @discardableResult
    private func setAside(_ source: String, as name: String) throws(Errno) -> String {
        try Directories.make(folder.lost)
        var isThawed = false
        // Of an earlier time: numbers that the catalog does not know are given again.
        var number = 1
        while true {
            let target = folder.lost + "/" + name + (number == 1 ? "" : "-\(number)")
            do throws(Errno) {
                try Directories.renameExclusively(source, target)
                return target
            } catch {
                if error.code == EEXIST {
                    number += 1
                } else if error.code == EPERM, !isThawed {
                    thaw(source, isToGo: true)
                    isThawed = true
                } else {
                    throw error
                }
            }
        }
    }
}
