import Logging
import Model
import Probing
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// How containers that use one store notice each other.
final class NoticeTests {
    private let folder: String
    private let store = MarkStore()
    private let shared = Array("shared".utf8)
    private let clocks = Lock(Clocks(day: 1_000_000, boot: 5_000))

    init() throws { folder = try TemporaryDirectory.make() }

    deinit { TemporaryDirectory.remove(folder) }

    /// A store that keeps a mark and nothing else.
    private final class MarkStore: InertStore {
        struct State {
            var mark: [UInt8]?
            /// What another puts right after the next mark.
            var other: [UInt8]?
        }
        let address = "mark"
        let state = Lock(State())

        func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {
            guard companion.isMark else { return }
            state.withLock { state in
                state.mark = state.other ?? bytes
                state.other = nil
            }
        }
        func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
            companion.isMark ? state.withLock { $0.mark } : nil
        }
        func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
            -> BlobPage
        { BlobPage(blobs: [], isLast: true) }
    }

    /// A mount that ends as soon as others have to be given time; whether they had to be.
    private func mountWaits() throws -> Bool {
        let cancellation = Cancellation()
        let ownership = StoreOwnership(
            store, address: store.address, path: folder + "/store-owner",
            waits: { cancellation.cancel() }, clocks: { [clocks] in clocks.withLock { $0 } })
        let call = StoreCall(cancellation: cancellation)
        let problem = kind { () throws(StoreError) in
            let isOwner = try ownership.isOwner(call)
            #expect(!isOwner)
        }
        #expect(problem == nil || problem == .cancelled)
        return problem == .cancelled
    }

    private func pass(_ seconds: UInt64) {
        clocks.withLock {
            $0.day += seconds
            $0.boot += seconds
        }
    }

    @Test(arguments: [false, true])
    func `the time in which others notice a container goes on when that is unmounted`(
        _ wasOwner: Bool
    ) throws {
        if wasOwner {
            let path = folder + "/store-owner"
            try StoreOwnership(store, address: store.address, path: path).claim(StoreCall())
        }
        store.state.withLock { $0.mark = Array("1-2".utf8) }
        #expect(try mountWaits())
        #expect(store.state.withLock { $0.mark } == shared)
        pass(119)
        #expect(try mountWaits())
        pass(1)
        #expect(try !mountWaits())
    }

    /// What makes it uncertain how much time has gone by, or whether anybody could notice.
    enum Doubt: CaseIterable {
        case timeOfDaySetForward, timeOfDaySetBack, booted, carriedElsewhere, another
    }

    @Test(arguments: Doubt.allCases)
    func `the time in which others notice a container is not over when there is doubt about it`(
        _ doubt: Doubt
    ) throws {
        store.state.withLock { $0.mark = Array("1-2".utf8) }
        #expect(try mountWaits())
        switch doubt {
        case .timeOfDaySetForward: clocks.withLock { $0.day += 1_000 }
        case .timeOfDaySetBack: clocks.withLock { $0.day -= 1_000 }
        case .booted: clocks.withLock { $0.boot = 10 }
        case .carriedElsewhere: clocks.withLock { $0.boot += 1_000 }
        case .another:
            pass(1_000)
            store.state.withLock { $0.mark = Array("3-4".utf8) }
        }
        #expect(try mountWaits())
        pass(119)
        #expect(try mountWaits())
        pass(1)
        #expect(try !mountWaits())
    }

    @Test func `an owner notices a clone that was mounted at the same moment`() throws {
        let path = folder + "/store-owner"
        let isTold = Monitor(false)
        let ownership = StoreOwnership(
            store, address: store.address, path: path, notice: 0,
            waits: { isTold.signal { $0 = true } })
        try ownership.claim(StoreCall())
        // It has looked for the same mark.
        store.state.withLock { $0.other = Array("3-4".utf8) }
        #expect(try ownership.isOwner(StoreCall()))
        #expect(!ownership.isUncompared)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let uploads = Uploads(
            store: store, logger: logger, ready: { _ in }, source: { _ in nil },
            done: { _ in }, failed: { _, _ in })
        let cleaning = StoreCleaning(
            store, ownership, uploads, path: folder + "/unneeded", grace: 604_800, logger: logger,
            secondLook: 1
        ) { $0.map { _ in true } }
        cleaning.start()
        defer { cleaning.stop() }
        let told: Bool? = isTold.wait(until: MonotonicClock.after(milliseconds: 20_000)) {
            $0 ? true : nil
        }
        #expect(told == true)
        #expect(ownership.isUncompared)
        #expect(store.state.withLock { $0.mark } == shared)
    }
}
