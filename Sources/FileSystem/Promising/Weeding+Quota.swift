internal import Catalog
internal import Content
internal import Model
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

    /// Lets go of what stayed for its picture and has waited too long, or of all that waits for that; says
    /// whether that made room.
    func endWaitsForPictures(all: Bool) -> Bool {
        volume.pictures?.contents.dropWaiting(all: all) ?? false
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

    /// Lets go of what was not opened for longest until the quota is kept.
    func keepQuota() {
        let quota = volume.quota
        guard quota.isLimited, volume.link != nil else { return }
        let isDue = volume.state.withLock { state in
            defer { state.quota.isDue = false }
            return state.quota.isDue
        }
        // What only waits to be drawn is as good as gone.
        let leaving = volume.pictures?.contents.bytes ?? 0
        let free = (try? content.space().free).map { $0 + leaving } ?? .max
        let lacking = quota.free.map { $0 > free ? $0 - free : 0 } ?? 0
        guard isDue || lacking > 0 else { return }
        var (total, candidates) = count()
        var excess = max(lacking, quota.bytes.map { total > $0 ? total - $0 : 0 } ?? 0)
        if excess > 0 {
            candidates.sort { $0.opened < $1.opened }
            var chosen = candidates[...]
            while excess > 0, !chosen.isEmpty {
                // As many as are likely to do, with one sync of the catalog.
                var batch: [NodeNumber] = []
                var bytes: UInt64 = 0
                while bytes < excess, let next = chosen.popFirst() {
                    batch.append(next.node)
                    bytes += UInt64(next.size)
                }
                let gone = volume.letGo(batch)
                total -= min(total, gone)
                excess -= min(excess, gone)
            }
        }
        volume.state.withLock { state in
            state.quota.localBytes = total
            state.quota.excess = excess
        }
    }

    private func count() -> (total: UInt64, [Candidate]) {
        var total: UInt64 = 0
        var candidates: [Candidate] = []
        var start: MemoryIndex.Position? = 0
        while let from = start {
            start = volume.state.withLock { state in
                state.index.forEach(from: from, count: Self.portion) { record in
                    guard record.isRegular, record.size > 0 else { return }
                    if state.isAway(record.node, record.place) { return }
                    total += UInt64(record.size)
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
        return (total, candidates)
    }
}
