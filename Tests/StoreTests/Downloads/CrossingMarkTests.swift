import Model
import Probing
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// An owner that begins to remove something while another container comes to its store.
@Suite struct CrossingMarkTests {
    /// A store that keeps what is said of who uses it, and calls something before one of its calls.
    private final class CalledStore: InertStore {
        struct State {
            var companions: [String: [UInt8]] = [:]
            var calls = 0
            var interrupted = -1
            var interruption: @Sendable () -> Void = {}
        }
        let address = "called"
        let state = Lock(State())

        private func call() {
            let interruption = state.withLock { state in
                state.calls += 1
                return state.calls == state.interrupted ? state.interruption : {}
            }
            interruption()
        }
        func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {
            self.call()
            state.withLock { $0.companions[companion.kind] = bytes }
        }
        func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
            self.call()
            return state.withLock { $0.companions[companion.kind] }
        }

        /// Runs `body` before the call of this number from now on, 1 for the next.
        func interrupt(_ number: Int, _ body: @escaping @Sendable () -> Void) {
            state.withLock { state in
                (state.calls, state.interrupted, state.interruption) = (0, number, body)
            }
        }
        var calls: Int { state.withLock { $0.calls } }
        var mark: String? {
            state.withLock { $0.companions["owner"].map { String(decoding: $0, as: UTF8.self) } }
        }
    }

    private let folder: String
    private let store = CalledStore()
    private let clocks = Lock(Clocks(day: 1_000_000, boot: 5_000))

    init() throws { folder = try TemporaryDirectory.make() }

    /// A container that owns the store.
    private func owner() throws -> StoreOwnership {
        let owner = StoreOwnership(store, address: store.address, path: folder + "/owner")
        try owner.claim(StoreCall())
        #expect(try owner.isOwner(StoreCall()))
        return owner
    }

    /// Whether the owner may remove something now; what it would wait for as another is called off.
    private static func removes(_ owner: StoreOwnership) -> Bool {
        let cancellation = Cancellation()
        cancellation.cancel()
        return (try? owner.renew(StoreCall(cancellation: cancellation))) == true
    }

    /// A mount of another container, which ends as soon as it has to wait; whether it had to.
    private func joinerWaits(_ name: String) -> Bool {
        let cancellation = Cancellation()
        let joiner = StoreOwnership(
            store, address: store.address, path: "\(folder)/\(name)",
            waits: { cancellation.cancel() }, clocks: { [clocks] in clocks.withLock { $0 } })
        return (try? joiner.isOwner(StoreCall(cancellation: cancellation))) == nil
    }

    /// How many seconds another container waits that has come already, or comes now.
    private func wait(of name: String) -> UInt64 {
        var seconds: UInt64 = 0
        while joinerWaits(name) {
            clocks.withLock {
                $0.day += 30
                $0.boot += 30
            }
            seconds += 30
        }
        return seconds
    }

    @Test func `an owner that removes and who joins see each other, whichever call comes first`()
        throws
    {
        defer { TemporaryDirectory.remove(folder) }
        var number = 0
        var isOver = false
        while !isOver {
            number += 1
            store.state.withLock { $0 = CalledStore.State() }
            let owner = try owner()
            let removed = Lock(false)
            store.interrupt(number) { removed.withLock { $0 = Self.removes(owner) } }
            _ = joinerWaits("joiner-\(number)")
            isOver = !removed.withLock { $0 } && store.calls < number
            if removed.withLock({ $0 }) {
                #expect(wait(of: "joiner-\(number)") >= 660, "call \(number)")
            }
            #expect(!Self.removes(owner), "call \(number)")
            _ = try Probing.run(["rm", "-f", folder + "/owner"])
        }
        #expect(number > 4)
    }

    @Test func `who joins between two calls of an owner that begins to remove is seen, or waits`()
        throws
    {
        defer { TemporaryDirectory.remove(folder) }
        for number in 1...5 {
            store.state.withLock { $0 = CalledStore.State() }
            let owner = try owner()
            let test = self
            store.interrupt(number) { _ = test.joinerWaits("joiner-\(number)") }
            if Self.removes(owner) {
                #expect(wait(of: "joiner-\(number)") >= 660, "call \(number)")
            }
            _ = try Probing.run(["rm", "-f", folder + "/owner"])
        }
    }

    @Test
    func `who comes next waits as long as who has found that an owner removes, until that is over`()
        throws
    {
        defer { TemporaryDirectory.remove(folder) }
        let owner = try owner()
        #expect(Self.removes(owner))
        #expect(joinerWaits("first"))
        #expect(wait(of: "second") >= 660)
        #expect(wait(of: "first") < 660)
        #expect(store.mark == "shared")
        #expect(wait(of: "third") == 120)
    }
}
