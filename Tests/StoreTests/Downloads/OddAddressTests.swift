import Model
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// Stores in folders whose paths are no words of a line.
struct OddAddressTests {
    /// A store that keeps a mark and nothing else.
    private final class MarkStore: InertStore {
        let address = "mark"
        private let mark = Lock<[UInt8]?>(nil)

        func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {
            guard companion.isMark else { return }
            mark.withLock { $0 = bytes }
        }
        func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
            companion.isMark ? mark.withLock { $0 } : nil
        }
    }

    @Test(arguments: ["folder:/a b", "folder:/a\tb", "folder:/a\nb"])
    func `an owner knows its store again, whatever its address holds`(_ address: String) throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = MarkStore()
        let waits = Lock(0)
        func mount() -> StoreOwnership {
            StoreOwnership(
                store, address: address, path: folder + "/owner", notice: 0,
                waits: { waits.withLock { $0 += 1 } })
        }
        try mount().claim(StoreCall())
        for _ in 0..<2 {
            let ownership = mount()
            #expect(try ownership.isOwner(StoreCall()))
            // Before anything is removed.
            #expect(try ownership.renew(StoreCall()))
        }
        // Nobody else has to be given time to notice anything.
        #expect(waits.withLock { $0 } == 0)
    }
}
