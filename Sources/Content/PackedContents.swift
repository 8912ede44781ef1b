internal import Glibc
package import Model
package import SystemCalls

/// Small contents that have no file of their own yet: making one costs more than all else about
/// them, and many are gone or superseded before anybody needs it.
///
/// While a session lasts its content is in memory; ``record(_:)`` appends it to a pack, from where
/// it survives the daemon; once published it is only there. Whoever needs a file has it made
/// (``LocalContent/spill(_:)``), at the latest the sealing. Any thread.
package final class PackedContents: Sendable {
    /// Bytes of the largest content that is packed.
    package static let largest = 64 << 10
    /// What a hole consists of in the files of most disks.
    private static let block = 4096
    /// Bytes of the contents of all sessions together.
    private static let memory = 16 << 20
    /// A pack with more than this is not appended to.
    private static let fullPack: Int64 = 64 << 20
    /// An almost empty pack is not given up for that.
    private static let usedPack: Int64 = 1 << 20

    fileprivate struct Entry {
        /// The content behind room for an entry's header, while its session lasts; else `nil`. Empty
        /// before the first write.
        var bytes: [UInt8]?
        var status: FileStatus
        /// Where it is as of the last ``record(_:)``.
        var pack: Pack?
        var offset: Int64 = 0
        /// That is what it is now.
        var isRecorded = false
        /// It was to be recorded, whether that could be done or not.
        var isTried = false

        init(bytes: [UInt8]?, status: FileStatus) {
            self.bytes = bytes
            self.status = status
        }
    }

    private struct State {
        var entries: [NodeNumber: Entry] = [:]
        /// All packs, and the one that is appended to.
        var packs: [Pack] = []
        var current: Pack?
        var next = 1
        /// Bytes in memory.
        var held = 0
    }

    private let folder: String
    private let state = Lock(State())

    package init(folder: String) { self.folder = folder }

    // MARK: Sessions

    /// Begins an empty content, unless memory is short of room for more.
    func begin(_ node: NodeNumber) -> Bool {
        state.withLock { state in
            if state.held > Self.memory { return false }
            state.entries[node] = Entry(
                bytes: [], status: FileStatus(size: 0, moment: Timestamp(WallClock.now)))
            return true
        }
    }

    func contains(_ node: NodeNumber) -> Bool {
        state.withLock { $0.entries.index(forKey: node) != nil }
    }

    func status(_ node: NodeNumber) -> FileStatus? {
        state.withLock { $0.entries[node]?.status }
    }

    /// Room for an entry's header, which precedes the bytes given to ``write(_:at:to:)``.
    package static let header = Pack.header

    /// Writes what is behind the header's room in `bytes`; at the end if there is no `offset`.
    ///
    /// - Returns: whether that could be done: the content is here, not too large afterwards and without
    ///   whole blocks that nobody has written, which a file does not store.
    func write(_ bytes: [UInt8], at offset: Int64?, to node: NodeNumber) -> Bool {
        state.withLock { state in
            guard let index = state.entries.index(forKey: node),
                let before = state.entries.values[index].bytes?.count
            else { return false }
            let size = max(before - Self.header, 0)
            let start = Int(clamping: offset ?? Int64(size))
            let (end, tooLarge) = start.addingReportingOverflow(bytes.count - Self.header)
            if tooLarge || end > Self.largest || state.held > Self.memory { return false }
            if start / Self.block > (size + Self.block - 1) / Self.block { return false }
            if size == 0, start == 0 {
                state.entries.values[index].bytes = bytes
            } else {
                state.entries.values[index].put(bytes, at: start, end)
            }
            state.held += (state.entries.values[index].bytes?.count ?? 0) - before
            state.entries.values[index].status = FileStatus(
                size: Int64(max(size, end)), moment: Timestamp(WallClock.now))
            state.entries.values[index].isRecorded = false
            return true
        }
    }

    /// Sets the modification time; says whether the content is here.
    func setModified(_ node: NodeNumber, _ moment: Timestamp) -> Bool {
        state.withLock { state in
            guard let index = state.entries.index(forKey: node) else { return false }
            state.entries.values[index].status.modified = moment
            state.entries.values[index].status.changed = Timestamp(WallClock.now)
            state.entries.values[index].isRecorded = false
            return true
        }
    }

    /// Makes what was written survive the daemon. Nothing to do for what is not here.
    ///
    /// - Parameter onlyFirst: not if that was tried before.
    func record(_ node: NodeNumber, onlyFirst: Bool = false) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            guard let index = state.entries.index(forKey: node),
                !state.entries.values[index].isRecorded,
                !onlyFirst || !state.entries.values[index].isTried,
                var bytes = state.entries.values[index].bytes.take()
            else { return }
            state.entries.values[index].isTried = true
            // Taken out and put back: to write the header into it would copy it otherwise.
            defer { state.entries.values[index].bytes = bytes }
            let status = state.entries.values[index].status
            if bytes.isEmpty {
                bytes = [UInt8](repeating: 0, count: Self.header)
                state.held += bytes.count
            }
            let (pack, offset) = try append(
                &bytes,
                Pack.Head(
                    node: node, size: status.size, modified: status.modified,
                    changed: status.changed), &state)
            state.entries.values[index].pack?.live -= 1
            pack.live += 1
            state.entries.values[index].pack = pack
            state.entries.values[index].offset = offset
            state.entries.values[index].isRecorded = true
        }
    }

    private func append(_ bytes: inout [UInt8], _ head: Pack.Head, _ state: inout State)
        throws(Errno) -> (Pack, Int64)
    {
        if let pack = state.current, pack.end >= Self.fullPack { state.current = nil }
        let pack: Pack
        if let current = state.current {
            pack = current
        } else {
            pack = Pack(
                state.next,
                try OwnedDescriptor.openOwn(path(state.next), O_RDWR | O_TRUNC), end: 0)
            state.next += 1
            state.packs.append(pack)
            state.current = pack
        }
        do throws(Errno) { return (pack, try pack.append(&bytes, head)) } catch {
            // Whatever part of it was written is not to be followed by anything.
            state.current = nil
            throw error
        }
    }

    /// The content, which is recorded, changes no more: memory lets go of it.
    func settle(_ node: NodeNumber) {
        state.withLock { state in
            guard let index = state.entries.index(forKey: node),
                state.entries.values[index].isRecorded
            else { return }
            state.held -= state.entries.values[index].bytes?.count ?? 0
            state.entries.values[index].bytes = nil
        }
    }

    // MARK: Reading

    /// Where the bytes are to be read; `nil` if they have a file of their own.
    func part(_ node: NodeNumber) -> ContentPart? {
        state.withLock { state in
            guard let entry = state.entries[node] else { return nil }
            if let bytes = entry.bytes { return .bytes(bytes.dropFirst(Self.header)) }
            guard let pack = entry.pack else { return nil }
            return .range(pack.file, offset: entry.offset, size: entry.status.size)
        }
    }

    // MARK: Letting go

    /// Forgets a content; says whether it was here.
    @discardableResult
    package func remove(_ node: NodeNumber) -> Bool {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: node) else { return false }
            entry.pack?.live -= 1
            state.held -= entry.bytes?.count ?? 0
            return true
        }
    }

    /// Has a content put elsewhere by `body`, which gets its bytes and modification time, and forgets
    /// it. One thread at a time.
    ///
    /// - Returns: `false` if it was removed meanwhile: what `body` made is not wanted.
    func move(
        _ node: NodeNumber, _ body: (ArraySlice<UInt8>, Timestamp) throws(Errno) -> Void
    ) throws(Errno) -> Bool {
        let part = try state.withLock { (state) throws(Errno) -> (ContentPart, Timestamp)? in
            guard let entry = state.entries[node] else { return nil }
            if let bytes = entry.bytes {
                // It may change at any moment: nobody else gets here before it is done.
                try body(bytes.dropFirst(Self.header), entry.status.modified)
                if let pack = entry.pack {
                    // The file is what counts now. Only after a power loss somebody could take the
                    // entry for it.
                    pack.live -= 1
                    var nothing = [UInt8](repeating: 0, count: Self.header)
                    _ = try? append(
                        &nothing,
                        Pack.Head(
                            node: node, size: -1, modified: entry.status.modified,
                            changed: entry.status.changed), &state)
                }
                state.held -= bytes.count
                state.entries[node] = nil
                return nil
            }
            guard let pack = entry.pack else { return nil }
            return (
                .range(pack.file, offset: entry.offset, size: entry.status.size),
                entry.status.modified
            )
        }
        guard let (part, modified) = part else { return true }
        try body(try part.read()[...], modified)
        return remove(node)
    }

    // MARK: Packs

    private func path(_ number: Int) -> String { folder + "/" + String(number) }

    /// Takes the packs out that hold nothing any more, or nothing to speak of.
    ///
    /// - Parameter ending: nothing more will be appended.
    /// - Returns: their files, to be removed when everything else is on the disk.
    func takeUnused(ending: Bool) -> [String] {
        state.withLock { state in
            let current = state.current
            let isUnused = { (pack: Pack) in
                pack.live == 0 && (ending || pack !== current || pack.end >= Self.usedPack)
            }
            let unused = state.packs.filter(isUnused)
            if let current, isUnused(current) { state.current = nil }
            state.packs.removeAll(where: isUnused)
            return unused.map { path($0.number) }
        }
    }

    /// Where something else is called as a pack: it may be in the place of one.
    package var oddPack: String? {
        let names = (try? Directories.names(in: folder)) ?? []
        return names.filter { ContainerFolder.number(of: $0) != nil }.map { folder + "/" + $0 }
            .first(where: OddFile.isAt)
    }

    /// Takes over what an earlier run left in packs, as far as it is `wanted`.
    ///
    /// - Returns: those whose bytes are not what was written.
    package func adopt(wanted: (NodeNumber, _ size: Int64, _ modified: Timestamp) -> Bool)
        throws(Errno) -> [NodeNumber]
    {
        var found: [NodeNumber: (pack: Pack, head: Pack.Head)] = [:]
        var packs: [Pack] = []
        for number in try Directories.names(in: folder)
            .compactMap(ContainerFolder.number(of:)).sorted()
        {
            let pack = Pack(number, try LocalContent.openFile(path(number), O_RDWR), end: 0)
            for head in try Pack.entries(of: pack.file) {
                found[head.node] = head.size < 0 ? nil : (pack, head)
            }
            packs.append(pack)
        }
        found = found.filter { wanted($0.key, $0.value.head.size, $0.value.head.modified) }
        var damaged: [NodeNumber] = []
        // What cannot be read now may be whole: who reads it is told.
        for (node, (pack, head)) in found where (try? pack.isWhole(head)) == false {
            damaged.append(node)
        }
        state.withLock { state in
            for (node, (pack, head)) in found {
                var entry = Entry(
                    bytes: nil, status: FileStatus(size: head.size, moment: head.modified))
                entry.status.changed = head.changed
                entry.pack = pack
                entry.offset = head.offset
                entry.isRecorded = true
                pack.live += 1
                state.entries[node] = entry
            }
            state.packs = packs
            state.next = (packs.last?.number ?? 0) + 1
        }
        return damaged
    }

    /// All that are here, in no order.
    package var nodes: [NodeNumber] { state.withLock { Array($0.entries.keys) } }

    /// Forgets what is not `wanted`.
    package func forget(except wanted: Set<NodeNumber>) {
        for node in nodes where !wanted.contains(node) {
            remove(node)
        }
    }
}

extension PackedContents.Entry {
    /// Puts what is behind the header in `source` into the content from `start` to `end`.
    fileprivate mutating func put(_ source: [UInt8], at start: Int, _ end: Int) {
        let header = PackedContents.header
        var content = bytes ?? []
        bytes = nil
        if content.count < header + end {
            content.append(
                contentsOf: repeatElement(0, count: header + end - content.count))
        }
        content.replaceSubrange(header + start..<header + end, with: source[header...])
        bytes = content
    }
}

/// Where the bytes of a packed content are.
package enum ContentPart: Sendable {
    case bytes(ArraySlice<UInt8>)
    case range(SharedDescriptor, offset: Int64, size: Int64)

    /// All of them.
    package func read() throws(Errno) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return Array(bytes)
        case .range(let file, let offset, let size):
            var bytes = [UInt8](repeating: 0, count: Int(size))
            let count = try file.with { (file) throws(Errno) in
                try file.read(into: &bytes, at: offset)
            }
            // Nobody cuts a pack off.
            if count < bytes.count { throw Errno(EIO) }
            return bytes
        }
    }
}
