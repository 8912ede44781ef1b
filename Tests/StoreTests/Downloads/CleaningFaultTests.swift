import Logging
import Model
import Probing
import Promises
import Stores
import SystemCalls
import TestSupport
import Testing

/// Cleaning of stores that do not do all of what it asks for.
@Suite struct CleaningFaultTests {
    /// A store with one blob, of which nobody may ask what puts left there.
    private final class SilentStore: InertStore {
        let address = "silent"
        let blob = Sample(size: 10, seed: 1).blob
        let isDeleted = Monitor(false)
        private let mark = Lock<[UInt8]?>(nil)

        func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {
            guard companion.isMark else { return }
            mark.withLock { $0 = bytes }
        }
        func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
            companion.isMark ? mark.withLock { $0 } : nil
        }
        func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
            -> BlobPage
        {
            // Nothing yet when the container becomes the owner.
            let isOwned = mark.withLock { $0 != nil }
            return BlobPage(blobs: isOwned && hash == nil ? [blob] : [], isLast: true)
        }
        func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
            isDeleted.signal { $0 = true }
        }
        func sweep(
            _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
        ) throws(StoreError) {
            throw StoreError(.denied, at: address, "not for you")
        }
    }

    /// Has a store cleaned of what is not needed while `body` runs.
    private func whileCleaning(
        _ store: any ContentStore, _ ownership: StoreOwnership, in folder: String, needed: Bool,
        clock: @escaping @Sendable () -> UInt64 = { BootClock.now }, _ body: () -> Void
    ) {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let uploads = Uploads(
            store: store, logger: logger, ready: { _ in }, source: { _ in nil },
            done: { _ in }, failed: { _, _ in })
        defer { uploads.stop() }
        let cleaning = StoreCleaning(
            store, ownership, uploads, path: folder + "/unneeded", grace: 2, logger: logger,
            clock: clock
        ) { $0.map { _ in needed } }
        cleaning.start()
        defer { cleaning.stop() }
        body()
    }

    @Test func `a store that does not tell what uploads have left has its blobs removed`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = SilentStore()
        let ownership = StoreOwnership(store, address: store.address, path: folder + "/owner")
        try ownership.claim(StoreCall())
        whileCleaning(store, ownership, in: folder, needed: false) {
            let isDeleted: Bool? = store.isDeleted.wait(
                until: MonotonicClock.after(milliseconds: 60_000)
            ) { $0 ? true : nil }
            #expect(isDeleted == true)
        }
    }

    /// A store at which, in an hour's sleep after each removal, another container begins.
    private final class SharedStore: InertStore {
        struct State {
            var mark: [UInt8]?
            var removals = 0
            var time: UInt64 = 3_600_000_000_000
        }
        let address = "shared"
        let blobs = [1, 2].map { Sample(size: 10, seed: $0).blob }
        let state = Monitor(State())

        func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall) throws(StoreError) {
            guard companion.isMark else { return }
            state.withLock { $0.mark = bytes }
        }
        func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
            companion.isMark ? state.withLock { $0.mark } : nil
        }
        func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
            -> BlobPage
        {
            // Nothing yet when the container becomes the owner.
            let isOwned = state.withLock { $0.mark != nil }
            return BlobPage(blobs: isOwned && hash == nil ? blobs : [], isLast: true)
        }
        func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
            state.signal { state in
                state.removals += 1
                state.mark = Array("shared".utf8)
                state.time += 3_600_000_000_000
            }
        }
    }

    @Test func `an owner whose machine has slept looks at the mark before it removes anything`()
        throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = SharedStore()
        let hasNoticed = Monitor(false)
        let ownership = StoreOwnership(
            store, address: store.address, path: folder + "/owner", notice: 0
        ) {
            hasNoticed.signal { $0 = true }
        }
        try ownership.claim(StoreCall())
        let clock = { @Sendable in store.state.withLock { $0.time } }
        whileCleaning(store, ownership, in: folder, needed: false, clock: clock) {
            let noticed: Bool? = hasNoticed.wait(
                until: MonotonicClock.after(milliseconds: 60_000)
            ) { $0 ? true : nil }
            #expect(noticed == true)
        }
        #expect(store.state.withLock { $0.removals } == 1)
    }

    @Test func `a copy of a container that is at the store takes nothing over and removes nothing`()
        throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        try run("mkdir", "\(folder)/one")
        let store = SlowStore()
        func ownership(_ name: String, _ waits: @escaping @Sendable () -> Void = {})
            -> StoreOwnership
        {
            StoreOwnership(
                store, address: store.address, path: "\(folder)/\(name)/owner", waits: waits)
        }
        let first = ownership("one")
        try first.claim(StoreCall())
        #expect(try first.isOwner(StoreCall()))
        // As it is, with the token that the store has, while the first is mounted.
        try run("cp", "-a", "\(folder)/one", "\(folder)/two")
        let cancellation = Cancellation()
        let call = StoreCall(cancellation: cancellation)
        // What it says before it gives the first the time to notice.
        let copy = ownership("two") { cancellation.cancel() }
        #expect(kind { () throws(StoreError) in _ = try copy.isOwner(call) } == .cancelled)
        #expect(store.state.withLock { $0.mark } == Array("shared".utf8))
        // The first does not remove anything either any more, now and when it is mounted again; under
        // another name it is still the first.
        try run("mv", "\(folder)/one", "\(folder)/three")
        let again = ownership("three") { cancellation.cancel() }
        #expect(kind { () throws(StoreError) in _ = try again.isOwner(call) } == .cancelled)
    }

    @Test
    func `a mark that comes late over the word that others use the store is taken away again`()
        throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = SlowStore()
        try run("sh", "-c", "printf 'slow\\tshared\\n' > \(folder)/owner")
        store.state.withLock { $0.mark = Array("1-2".utf8) }
        let cancellation = Cancellation()
        let shared = StoreOwnership(store, address: store.address, path: folder + "/owner") {
            cancellation.cancel()
        }
        #expect(
            kind { () throws(StoreError) in
                _ = try shared.isOwner(StoreCall(cancellation: cancellation))
            } == .cancelled)
        #expect(store.state.withLock { $0.mark } == Array("shared".utf8))
        // Once that is there, nobody waits again.
        let again = StoreOwnership(store, address: store.address, path: folder + "/owner")
        #expect(try !again.isOwner(StoreCall()))
    }

    @Test func `a mark that an owner was about to make is replaced before anything counts`() throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = SlowStore()
        store.state.withLock { $0.mark = Array("1-2".utf8) }
        let times = Lock(0)
        let joining = StoreOwnership(
            store, address: store.address, path: folder + "/owner", notice: 1_000_000
        ) {
            // Its owner had looked for another mark before that was made.
            let isFirst = times.withLock { times -> Bool in
                times += 1
                return times == 1
            }
            if isFirst { store.state.withLock { $0.mark = Array("3-4".utf8) } }
        }
        #expect(try !joining.isOwner(StoreCall()))
        #expect(store.state.withLock { $0.mark } == Array("shared".utf8))
        #expect(times.withLock { $0 } == 2)
    }

    @Test func `who uses a store that had no mark notices the one that another makes later`() throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = SlowStore()
        let isTold = Monitor<Bool?>(nil)
        let ownership = StoreOwnership(
            store, address: store.address, path: folder + "/owner", notice: 1_000_000
        ) {
            isTold.signal { $0 = true }
        }
        #expect(try !ownership.isOwner(StoreCall()))
        // Nothing has come to be there yet: another container takes the store for its own.
        let other = StoreOwnership(store, address: store.address, path: folder + "/other")
        try other.claim(StoreCall())
        #expect(try other.isOwner(StoreCall()))
        whileCleaning(store, ownership, in: folder, needed: true) {
            let told = isTold.wait(until: MonotonicClock.after(milliseconds: 20_000)) { $0 }
            #expect(told == true)
        }
        #expect(store.state.withLock { $0.mark } == Array("shared".utf8))
    }

    @Test func `a mark that comes spoilt once takes the store from nobody`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = SlowStore()
        let first = StoreOwnership(store, address: store.address, path: folder + "/owner")
        try first.claim(StoreCall())
        store.state.withLock { $0.spoilt = [0] }
        let cancellation = Cancellation()
        let next = StoreOwnership(store, address: store.address, path: folder + "/owner") {
            cancellation.cancel()
        }
        let call = StoreCall(cancellation: cancellation)
        #expect(kind { () throws(StoreError) in _ = try next.isOwner(call) } == .unreachable)
        #expect(try next.isOwner(call))
    }

    @Test func `a container that is moved on its disk goes on to own its store`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        try run("mkdir", "\(folder)/one")
        let store = SlowStore()
        let first = StoreOwnership(store, address: store.address, path: "\(folder)/one/owner")
        try first.claim(StoreCall())
        try run("mv", "\(folder)/one", "\(folder)/two")
        let moved = StoreOwnership(store, address: store.address, path: "\(folder)/two/owner")
        #expect(try moved.isOwner(StoreCall()))
    }

    private func run(_ words: String...) throws {
        #expect(try Probing.run(words).status == 0)
    }

    @Test func `what a copy counts as stored is compared before anything else, and then for good`()
        throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        for name in ["owner", "copy"] { try Directories.make("\(folder)/\(name)") }
        let store = SlowStore()
        func ownership(_ name: String) -> StoreOwnership {
            StoreOwnership(
                store, address: store.address, path: "\(folder)/\(name)/store-owner", notice: 0)
        }
        try ownership("owner").claim(StoreCall())
        try run("cp", folder + "/owner/store-owner", folder + "/copy")
        let seen = Monitor((lost: [Blob](), isCompared: false))
        let copy = StoreOwnership(
            store, address: store.address, path: "\(folder)/copy/store-owner", notice: 0,
            tells: { isUncompared in seen.signal { $0.isCompared = !isUncompared } })
        // Also when somebody has asked who owns the store, for instance to put something.
        #expect(try !copy.isOwner(StoreCall()))
        #expect(copy.isUncompared)
        let lost = Sample(size: 10, seed: 1).blob
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let uploads = Uploads(
            store: store, logger: logger, ready: { _ in }, source: { _ in nil },
            done: { _ in }, failed: { _, _ in })
        let answers = Lock(0)
        let cleaning = StoreCleaning(
            store, copy, uploads, path: folder + "/unneeded", grace: 2, logger: logger,
            stored: { after in
                // What the catalog does not tell for a moment has not been compared.
                let isFirst = answers.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? nil : after == nil ? [lost] : []
            },
            lost: { blob in seen.signal { $0.lost.append(blob) } }
        ) { $0.map { _ in true } }
        cleaning.start()
        defer { cleaning.stop() }
        let found = seen.wait(until: MonotonicClock.after(milliseconds: 60_000)) {
            $0.isCompared ? $0.lost : nil
        }
        #expect(found == [lost])
        #expect(!ownership("copy").isUncompared)
    }

    /// A store that answers only whoever has called it off.
    private final class FrozenStore: InertStore {
        let address = "frozen"
        let isAsked = Monitor(false)

        func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
            isAsked.signal { $0 = true }
            try call.cancellation.sleep(nanoseconds: 60_000_000_000, at: address)
            return nil
        }
    }

    @Test func `who waits for another to find out who owns a store can be called off`() throws {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = FrozenStore()
        let ownership = StoreOwnership(store, address: store.address, path: folder + "/owner")
        let first = Cancellation()
        Threads.start("first") { _ = try? ownership.isOwner(StoreCall(cancellation: first)) }
        let end = MonotonicClock.after(milliseconds: 10_000)
        let isAsked: Bool? = store.isAsked.wait(until: end) { $0 ? true : nil }
        #expect(isAsked == true)
        let second = Cancellation()
        let hasEnded = Monitor(false)
        Threads.start("second") {
            _ = try? ownership.isOwner(StoreCall(cancellation: second))
            hasEnded.signal { $0 = true }
        }
        second.cancel()
        let ended: Bool? = hasEnded.wait(until: end) { $0 ? true : nil }
        #expect(ended == true)
        first.cancel()
    }

    @Test func `an owner that cannot read for a moment that it is one does not share its store`()
        throws
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let store = SlowStore()
        let path = folder + "/owner"
        let first = StoreOwnership(store, address: store.address, path: path)
        try first.claim(StoreCall())
        // A folder can be opened and not read.
        try run("sh", "-c", "mv \(path) \(path).kept && mkdir \(path)")
        let cancellation = Cancellation()
        let next = StoreOwnership(store, address: store.address, path: path) {
            cancellation.cancel()
        }
        let call = StoreCall(cancellation: cancellation)
        #expect(kind { () throws(StoreError) in _ = try next.isOwner(call) } == .local)
        #expect(store.state.withLock { $0.mark } != Array("shared".utf8))
        try run("sh", "-c", "rmdir \(path) && mv \(path).kept \(path)")
        #expect(try next.isOwner(call))
    }
}
