import Glibc
import Model
import Probing
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// A container whose folder is set back to an older state in its own place, as by a backup or a snapshot: it
/// counts contents as stored that it has removed since.
final class SetBackStoreTests {
    /// A store that keeps a mark and nothing else, and does not answer while it is away.
    private final class MarkStore: InertStore {
        struct State {
            var mark: [UInt8]?
            var isAway = false
        }
        let address = "mark"
        let state = Lock(State())

        func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {
            guard companion.isMark else { return }
            state.withLock { $0.mark = bytes }
        }
        func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
            let (mark, isAway) = state.withLock { ($0.mark, $0.isAway) }
            if isAway { throw StoreError(.unreachable, at: address, "it is away") }
            return companion.isMark ? mark : nil
        }
    }

    private let store = MarkStore()
    private let shared = Array("shared".utf8)
    /// The container's, which stays the one that it is, by its inode.
    private let folder: String
    private let first: StoreOwnership
    private let told = Lock([Bool]())

    /// Becomes the owner, and keeps the state that is given back later.
    init() throws {
        folder = try TemporaryDirectory.make()
        let path = folder + "/store-owner"
        first = StoreOwnership(store, address: store.address, path: path, notice: 0)
        try first.claim(StoreCall())
        #expect(try first.isOwner(StoreCall()))
        #expect(try run(["cp", path, path + ".kept"]).status == 0)
    }

    deinit { TemporaryDirectory.remove(folder) }

    private func giveBack() throws {
        let path = folder + "/store-owner"
        #expect(try run(["cp", path + ".kept", path]).status == 0)
    }

    /// The next mount's.
    private func next() -> StoreOwnership {
        StoreOwnership(
            store, address: store.address, path: folder + "/store-owner", notice: 0,
            tells: { [told] isUncompared in told.withLock { $0.append(isUncompared) } })
    }

    @Test(arguments: [false, true])
    func `an older state than that of the last mount is compared before anything goes`(
        _ isShared: Bool
    ) throws {
        #expect(try next().isOwner(StoreCall()))
        // Another container may have come since.
        if isShared { store.state.withLock { $0.mark = shared } }
        try giveBack()
        told.withLock { $0 = [] }
        let again = next()
        #expect(again.isUncompared)
        #expect(try !again.isOwner(StoreCall()))
        #expect(again.isUncompared)
        #expect(told.withLock { $0.allSatisfy { $0 } && !$0.isEmpty })
        #expect(store.state.withLock { $0.mark } == shared)
        // And in the next mount, until it has been compared.
        let last = next()
        #expect(try !last.isOwner(StoreCall()))
        #expect(last.isUncompared)
    }

    @Test func `an older state of the same mount is compared if anything was removed since`() throws
    {
        #expect(try first.renew(StoreCall()))
        #expect(try first.renew(StoreCall()), "it is the owner still")
        try giveBack()
        let again = next()
        #expect(try !again.isOwner(StoreCall()))
        #expect(again.isUncompared)
    }

    @Test func `an owner lets nothing go before the store has said that it is one`() throws {
        let again = next()
        store.state.withLock { $0.isAway = true }
        let problem = kind { () throws(StoreError) in _ = try again.isOwner(StoreCall()) }
        #expect(problem == .unreachable)
        #expect(again.isUncompared)
        #expect(told.withLock { $0 } == [])
        store.state.withLock { $0.isAway = false }
        #expect(try again.isOwner(StoreCall()))
        #expect(!again.isUncompared)
        #expect(told.withLock { $0 } == [false])
    }
}
