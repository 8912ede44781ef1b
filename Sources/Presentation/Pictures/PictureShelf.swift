package import Model
package import SystemCalls

/// The pictures of versions: on the disk, and the recent ones in memory.
///
/// Any thread; waits for the disk. What is here is only ever right or missing: a version's content
/// never changes, and neither do its pictures.
package final class PictureShelf: Sendable {
    /// Heads of files that are kept in memory, those of missing files included.
    static let headLimit = 4_096
    /// Bytes of pictures that are kept in memory.
    static let byteLimit = 8 << 20

    private struct Place: Hashable {
        var node: NodeNumber
        var size: PictureSize
    }
    private struct State {
        var heads = Recent<NodeNumber, PictureFile?>(limit: headLimit)
        var pictures = Recent<Place, [UInt8]>(limit: byteLimit)
        /// Shown, and not on the disk yet.
        var unwritten: [NodeNumber: [UInt8]] = [:]
    }
    private let state = Lock(State())
    /// Held while a version's file is written, and while it is read to be written again.
    private let changes = Lock(())
    private let folder: PictureFolder
    /// Files written from the first moment to the second are not believed.
    private let doubtful: Range<Timestamp>?
    private let clock: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - doubtful: when what was written may belong to versions that a power loss took back.
    ///   - clock: gives moments later than those of all versions, as `doubtful` counts them.
    package init(
        _ folder: PictureFolder, doubtful: Range<Timestamp>? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.folder = folder
        self.doubtful = doubtful
        self.clock = clock
    }

    /// What is kept for a version, if it was drawn as this type.
    package func head(_ node: NodeNumber, _ type: PictureType) -> PictureFile? {
        let known = state.withLock { $0.heads[node] }
        if let known { return known?.type == type ? known : nil }
        var head = folder.head(node)
        if let found = head, doubtful?.contains(found.written) == true {
            folder.remove(node)
            head = nil
        }
        state.withLock { state in
            // Whatever came meanwhile is newer.
            if state.heads[node] == nil { state.heads.insert(head?.file, for: node, weight: 1) }
        }
        return head?.file.type == type ? head?.file : nil
    }

    /// The same as far as memory tells, without a look at the disk.
    package func knownHead(_ node: NodeNumber, _ type: PictureType) -> PictureFile? {
        let known = state.withLock { $0.heads[node] } ?? nil
        return known?.type == type ? known : nil
    }

    /// The type that a version's pictures were drawn as; nil if there are none.
    package func type(_ node: NodeNumber) -> PictureType? {
        let known = state.withLock { $0.heads[node] } ?? folder.head(node)?.file
        return known?.failure == nil ? known?.type : nil
    }

    /// All of a version's pictures, as ``PictureOutcome/file(_:)`` has them.
    package func file(_ node: NodeNumber) -> [UInt8]? {
        state.withLock { $0.unwritten[node] } ?? folder.read(node)
    }

    /// One of a version's pictures.
    package func bytes(_ node: NodeNumber, _ type: PictureType, _ size: PictureSize) -> [UInt8]? {
        guard let place = head(node, type)?.places[size] else { return nil }
        let key = Place(node: node, size: size)
        if let known = state.withLock({ $0.pictures[key] }), known.count == place.count {
            return known
        }
        let unwritten = state.withLock { $0.unwritten[node] }
        if let unwritten, let head = PictureFile(unwritten), head.type == type {
            return head.places[size].map { Array(unwritten[$0]) }
        }
        guard let bytes = folder.read(node, type, size) else { return nil }
        remember(bytes, key)
        return bytes
    }

    /// Adds pictures of other sizes to those that are kept for a version. False if there are none, or
    /// they cannot be read.
    package func add(_ pictures: [PictureSize: [UInt8]], for node: NodeNumber, _ type: PictureType)
        throws(Errno) -> Bool
    {
        let moment = clock()
        return try changes.withLock { (_) throws(Errno) in
            guard let (file, known) = kept(node, type) else { return false }
            try replace(known.completed(pictures, from: file), for: node, at: moment)
            return true
        }
    }

    /// Keeps a version's pictures, or the reason why it has none. A picture that is there stays:
    /// somebody may have seen it.
    ///
    /// - Parameter file: as ``PictureOutcome/file(_:)`` makes it.
    package func put(_ file: [UInt8], for node: NodeNumber) throws(Errno) {
        let moment = clock()
        try changes.withLock { (_) throws(Errno) in
            guard let head = PictureFile(file),
                let (old, known) = kept(node, head.type)
            else { return try replace(file, for: node, at: moment) }
            if head.failure != nil { return }
            let whole = known.completed(head.pictures(of: file), from: old)
            try replace(whole, for: node, at: moment)
        }
    }

    /// The file of a version that was drawn as this type, and its head; nil if it has no pictures.
    private func kept(_ node: NodeNumber, _ type: PictureType)
        -> (file: [UInt8], head: PictureFile)?
    {
        guard let file = file(node), let head = PictureFile(file), head.type == type,
            head.failure == nil
        else { return nil }
        return (file, head)
    }

    private func replace(
        _ file: [UInt8], for node: NodeNumber, at moment: Timestamp
    ) throws(Errno) {
        try folder.put(file, for: node, at: moment)
        state.withLock { state in
            Self.remember(file, for: node, &state)
            state.unwritten[node] = nil
        }
    }

    /// From now on this is what is kept for the version. Does not wait: to be followed by
    /// ``writeShown(_:)``.
    package func show(_ file: [UInt8], for node: NodeNumber) {
        state.withLock { state in
            Self.remember(file, for: node, &state)
            state.unwritten[node] = file
        }
    }

    private static func remember(_ file: [UInt8], for node: NodeNumber, _ state: inout State) {
        let head = PictureFile(file)
        state.heads.insert(head, for: node, weight: 1)
        for size in PictureSize.allCases {
            let key = Place(node: node, size: size)
            state.pictures.remove(key)
            guard let place = head?.places[size], place.count <= byteLimit / 8 else { continue }
            state.pictures.insert(Array(file[place]), for: key, weight: place.count)
        }
    }

    /// Whether what is shown of a version is not on the disk yet.
    package func isUnwritten(_ node: NodeNumber) -> Bool {
        state.withLock { $0.unwritten[node] != nil }
    }

    /// Writes what is shown of a version to the disk. False if nothing is left to write. Where that fails it
    /// stays in memory for a while.
    package func writeShown(_ node: NodeNumber) throws(Errno) -> Bool {
        // Every close asks, and most have none: they do not wait for others' files.
        guard isUnwritten(node) else { return false }
        let moment = clock()
        return try changes.withLock { (_) throws(Errno) in
            // Pictures that were added meanwhile went to the disk with it.
            guard let file = state.withLock({ $0.unwritten[node] }) else { return false }
            // Not before it is there: who adds to it takes it from here.
            defer { state.withLock { $0.unwritten[node] = nil } }
            try folder.put(file, for: node, at: moment)
            return true
        }
    }

    /// The version is gone, and its pictures go.
    package func remove(_ node: NodeNumber) {
        folder.remove(node)
        forget(node)
    }

    private func forget(_ node: NodeNumber) {
        state.withLock { state in
            state.heads.remove(node)
            state.unwritten[node] = nil
            for size in PictureSize.allCases {
                state.pictures.remove(Place(node: node, size: size))
            }
        }
    }

    private func remember(_ bytes: [UInt8], _ key: Place) {
        guard bytes.count <= Self.byteLimit / 8 else { return }
        state.withLock { $0.pictures.insert(bytes, for: key, weight: bytes.count) }
    }
}
