import Model
import Stores
import SystemCalls

/// A store that carries a removal out long after it has been given up.
final class SlowStore: InertStore {
    struct State {
        var mark: [UInt8]?
        var blobs: Set<ContentHash> = []
        var removals: [ContentHash] = []
        /// Comes once instead of the mark.
        var spoilt: [UInt8]?
    }
    let address = "slow"
    let state = Monitor(State())

    func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {
        guard companion.isMark else { return }
        state.withLock { $0.mark = bytes }
    }
    func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        guard companion.isMark else { return nil }
        return state.withLock { state in
            defer { state.spoilt = nil }
            return state.spoilt ?? state.mark
        }
    }
    func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        let blobs = state.withLock { $0.blobs }
        return BlobPage(
            blobs: hash == nil ? blobs.map { Blob(hash: $0, size: 10) } : [], isLast: true)
    }
    func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall) throws(StoreError) {
        state.withLock { _ = $0.blobs.insert(blob.hash) }
    }
    func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        let isFirst = state.signal { state -> Bool in
            state.removals.append(hash)
            return state.removals.count == 1
        }
        if isFirst { throw StoreError(.timedOut, at: address, "no answer") }
        state.withLock { _ = $0.blobs.remove(hash) }
    }

    /// What was given up is carried out.
    func catchUp() { state.withLock { state in state.blobs.subtract(state.removals) } }
}
