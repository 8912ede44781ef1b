internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import Promises
internal import SystemCalls

/// Letting contents go that nobody asked to let go: to keep within the quota, and because they are to
/// be in the store only. On the keeper's thread.
extension Weeding {
    /// Records looked at before others get the volume's lock.
    private static let portion = 16_384

    /// Contents that are here and might go.
    private struct Candidate {
        var node: NodeNumber
        var size: Int64
        var opened: Timestamp
    }

    /// A content's bytes in a sum. A sparse file, or one that a damaged catalog counts, can be so large that
    /// a few of them are beyond all numbers.
    static func counted(_ size: Int64) -> UInt64 {
        UInt64(min(max(size, 0), VersionRow.largestSize))
    }

    /// What came of a content that did not become whole.
    private struct Part {
        var hash: ContentHash
        var bytes: UInt64
        var downloads: Downloads
    }

    /// Lets go of what stayed for its picture or its words and has waited too long, or of all that waits for
    /// that; says whether that made room.
    func endWaits(all: Bool) -> Bool {
        waiting.reduce(false) { $1.dropWaiting(all: all) || $0 }
    }

    /// What was let go and stays for its picture or its words.
    private var waiting: [SecondNames] {
        [volume.pictures?.contents, volume.texts?.leaving].compactMap { $0 }
    }

    /// Lets go of what is pinned online-only and was closed, or has reached the store.
    func letClosedGo() {
        let closed = volume.state.withLock { state in
            defer { state.lastCloses = [] }
            return state.lastCloses
        }
        for node in closed where volume.pin(of: node) == .onlineOnly {
            do throws(Errno) { try volume.evict(node) } catch {
                // A request that is about to end may still keep it. Whoever has it open will close it.
                volume.state.withLock { state in
                    let position = state.index.find(node.item)
                    guard position != 0, state.modes[node.rawValue] == nil,
                        state.index[item: position].pointee.node == node,
                        state.index[item: position].pointee.place == .stored
                            || state.arrived[node] != nil
                    else { return }
                    state.lastCloses.insert(node)
                }
            }
        }
    }

    /// Counts what had come when the daemon died and was not recorded yet, and what was about to go: the
    /// quota and pins pass over mere promises, so it would stay for ever.
    func countLeftArrivals() {
        guard volume.link != nil, volume.container.recovered != nil else { return }
        var start: MemoryIndex.Position? = 0
        while let from = start {
            var promised: [(node: NodeNumber, hash: ContentHash)] = []
            start = volume.state.withLock { state in
                state.index.forEach(from: from, count: Self.portion) { record in
                    guard record.isRegular, record.place == .promised, let hash = record.hash
                    else { return }
                    promised.append((record.node, hash))
                }
            }
            let here = promised.filter { volume.isHere($0.hash, for: $0.node) }.map(\.node)
            if here.isEmpty { continue }
            volume.state.withLock { state in
                state.quota.isDue = true
                state.lastCloses.formUnion(here)
            }
        }
    }

    /// Documents were removed: if there was too much there may be less.
    func noteRemoval() {
        volume.state.withLock { state in
            if state.quota.excess > 0 { state.quota.isDue = true }
        }
    }

    /// Lets go of what was not opened for longest until the quota is kept.
    func keepQuota() {
        let quota = volume.quota
        guard quota.isLimited, volume.link != nil else { return }
        defer { tellOfExcess() }
        // What only waits to be drawn or read is as good as gone.
        let leaving = waiting.reduce(0) { $0 + $1.bytes }
        let free = (try? content.space().free).map { $0 + leaving } ?? .max
        let lacking = quota.free.map { $0 > free ? $0 - free : 0 } ?? 0
        guard volume.state.withLock({ $0.quota.takeDue(lacking: lacking > 0) }) else { return }
        let counted = count()
        var (total, candidates) = (counted.total, counted.candidates)
        let unsent = total - candidates.reduce(0) { $0 + Self.counted($1.size) }
        total += counted.parts.reduce(0) { $0 + $1.bytes }
        func over() -> UInt64 { quota.bytes.map { total > $0 ? total - $0 : 0 } ?? 0 }
        let wanted = max(lacking, over())
        var left = wanted
        for part in counted.parts.reversed() where left > 0 {
            // What somebody has begun to read meanwhile does not count any more.
            _ = part.downloads.drop(part.hash)
            total -= min(total, part.bytes)
            left -= min(left, part.bytes)
        }
        let outcome = letGo(of: &candidates, bytes: left)
        total -= min(total, outcome.gone)
        left -= min(left, outcome.gone)
        var excess: Excess?
        if left > 0 {
            let kept = kept(candidates, unsent: unsent, failed: outcome.failed)
            // Some may have been removed by others meanwhile.
            total = kept.reduce(0) { $0 + $1.bytes }
            let stillLacking = lacking - min(lacking, wanted - left)
            let bytes = max(stillLacking, over())
            if bytes > 0 {
                excess = Excess(bytes: bytes, isOfDisk: stillLacking > over(), reasons: kept)
            }
        }
        volume.state.withLock { state in
            state.quota.localBytes = total
            state.quota.note(excess)
        }
    }

    /// Lets contents go, those first that were not opened for longest, until so many bytes are gone.
    ///
    /// - Returns: the bytes that went, and those that could not be removed.
    private func letGo(
        of candidates: inout [Candidate], bytes wanted: UInt64
    ) -> (gone: UInt64, failed: UInt64) {
        var (gone, failed): (UInt64, UInt64) = (0, 0)
        if wanted == 0 { return (0, 0) }
        candidates.sort { $0.opened < $1.opened }
        var chosen = candidates[...]
        while gone < wanted, !chosen.isEmpty {
            // As many as are likely to do, with one sync of the catalog.
            var batch: [NodeNumber] = []
            var bytes: UInt64 = 0
            while bytes < wanted - gone, let next = chosen.popFirst() {
                batch.append(next.node)
                bytes += Self.counted(next.size)
            }
            let outcome = volume.letGo(batch)
            gone += outcome.gone
            failed += outcome.failed
        }
        return (gone, failed)
    }

    /// The bytes that are still here, by what keeps them.
    private func kept(_ candidates: [Candidate], unsent: UInt64, failed: UInt64) -> [Excess.Reason]
    {
        let staying = staying(candidates)
        return [
            (staying.pinned, "pinned"), (staying.open, "open"),
            (unsent + staying.uncompared, "not in the store yet"),
            (failed + staying.other, "could not be removed"),
        ]
    }

    /// Bytes of those contents that are still here, by what keeps them.
    private func staying(
        _ candidates: [Candidate]
    ) -> (pinned: UInt64, open: UInt64, uncompared: UInt64, other: UInt64) {
        var (pinned, open, uncompared, other): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        for start in stride(from: 0, to: candidates.count, by: Self.portion) {
            volume.state.withLock { state in
                for candidate in candidates[start...].prefix(Self.portion) {
                    let position = state.index.find(candidate.node.item)
                    guard position != 0 else { continue }
                    let record = state.index[item: position]
                    guard record.pointee.node == candidate.node,
                        !state.isAway(candidate.node, record.pointee.place)
                    else { continue }
                    let bytes = Self.counted(candidate.size)
                    if state.pin(of: candidate.node).pin == .keep {
                        pinned += bytes
                        continue
                    }
                    switch state.reasonToStay(position) {
                    case .isUncompared, .isUnasked: uncompared += bytes
                    case nil: other += bytes
                    default: open += bytes
                    }
                }
            }
        }
        return (pinned, open, uncompared, other)
    }

    /// Tells the log of what has been too much for a while.
    private func tellOfExcess() {
        if let line = volume.state.withLock({ $0.quota.takeLine() }) {
            volume.link?.logger.warning("\(line)")
        }
    }

    /// Lets go of what came of contents that did not become whole and that nobody reads; says whether that
    /// made room.
    func dropParts() -> Bool {
        if incoming().isEmpty { return false }
        var gained = false
        for part in count().parts where part.downloads.drop(part.hash) && part.bytes > 0 {
            gained = true
        }
        return gained
    }

    /// What came of contents that did not become whole, and on the disk: bytes of each.
    private func incoming() -> [ContentHash: UInt64] {
        var found: [ContentHash: UInt64] = [:]
        for name in (try? Directories.names(in: content.folder.incoming)) ?? [] {
            var status = stat()
            guard let hash = ContainerFolder.hash(of: name),
                lstat(content.folder.incoming(hash).cPath, &status) == 0
            else { continue }
            found[hash] = UInt64(status.st_blocks) * 512
        }
        return found
    }

    /// Bytes of all that is here, what of it might go, and what came of contents and is not read.
    private func count() -> (total: UInt64, candidates: [Candidate], parts: [Part]) {
        var total: UInt64 = 0
        var candidates: [Candidate] = []
        let incoming = self.incoming()
        var parts: [ContentHash: Part] = [:]
        var start: MemoryIndex.Position? = 0
        while let from = start {
            start = volume.state.withLock { state in
                state.index.forEach(from: from, count: Self.portion) { record in
                    guard record.isRegular, record.size > 0 else { return }
                    if state.isAway(record.node, record.place) {
                        if let hash = record.hash, let bytes = incoming[hash],
                            let part = part(hash, bytes, isForeign: record.place == .elsewhere)
                        {
                            parts[hash] = part
                        }
                        return
                    }
                    total += Self.counted(record.size)
                    guard record.place == .stored || record.place == .promised else { return }
                    candidates.append(
                        Candidate(
                            node: record.node, size: record.size,
                            opened: max(
                                Timestamp(rawValue: record.accessed),
                                state.quota.opened[record.node.item] ?? Timestamp(rawValue: 0))))
                }
            }
        }
        let all = parts.values + earlierParts(incoming.filter { parts[$0.key] == nil })
        return (total, candidates, all.filter { !$0.downloads.isUsed($0.hash) })
    }

    /// What came of contents that no document has now, by their bytes: of earlier versions, or of none.
    private func earlierParts(_ incoming: [ContentHash: UInt64]) -> [Part] {
        incoming.compactMap { hash, bytes in
            let versions: [VersionRow]? = try? volume.container.query {
                (database) throws(Failure) in try database.versions(content: hash)
            }
            guard let versions else { return nil }
            return part(hash, bytes, isForeign: versions.contains { $0.place == .elsewhere })
        }
    }

    /// - Parameter isForeign: it comes from the source of an import.
    private func part(_ hash: ContentHash, _ bytes: UInt64, isForeign: Bool) -> Part? {
        let downloads = isForeign ? volume.sources?.downloads : volume.link?.downloads
        return downloads.map { Part(hash: hash, bytes: bytes, downloads: $0) }
    }
}
