import Coordination
import Glibc
import Model
import SystemCalls
import Testing

@testable import Catalog
@testable import FileSystem

/// Live queries of a volume without a mount: what hardly happens at the speed of system calls.
@Suite struct LiveQueryTests {
    /// A list that follows a query by its batches, and can keep the engine waiting.
    private final class Follower: QueryFollower {
        private struct State {
            var results: [Found]?
            var end: Errno?
            var isHeld = false
            var isWaiting = false
        }
        private let state = Monitor(State())

        func take(_ news: QueryNews) {
            let isHeld = state.signal { state -> Bool in
                switch news {
                case .gathered(let results, problem: _): state.results = results
                case .changed(let batch):
                    var results = state.results ?? []
                    batch.difference.apply(
                        to: &results, added: batch.added, updated: batch.updated)
                    state.results = results
                case .ended(let error): state.end = error
                }
                state.isWaiting = state.isHeld
                return state.isHeld
            }
            // Not if it is held only now: what it was told is known to the one who holds it.
            if isHeld { _ = state.wait { $0.isHeld ? nil : true } }
        }

        /// The next batch keeps the engine until ``letGo()``.
        func hold() { state.signal { $0.isHeld = true } }
        func letGo() { state.signal { $0.isHeld = false } }

        /// Returns when the engine waits for the one who holds it; false after 10 s.
        func isWaiting() -> Bool {
            state.wait(until: MonotonicClock.after(milliseconds: 10_000)) {
                $0.isWaiting ? true : nil
            } ?? false
        }

        /// Whether the list is this one, 10 s from now at the latest.
        func becomes(_ wanted: [Found]) -> Bool {
            state.wait(until: MonotonicClock.after(milliseconds: 10_000)) {
                $0.results == wanted ? true : nil
            } ?? false
        }

        /// Why nothing more comes; `nil` if something may.
        var end: Errno? { state.withLock { $0.end } }
        var paths: [String]? { state.withLock { $0.results?.map(\.path) } }
    }

    private func withContainer(_ body: (InsideContainer, Follower) throws -> Void) throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try body(container, Follower())
        }
    }

    @Test func `who cannot keep up with the changes is told of all of them`() throws {
        try withContainer { container, follower in
            for name in ["changed", "gone", "old", "stays"] { try container.save(name, [1]) }
            container.follow(Query(), follower)
            #expect(try follower.becomes(container.found(Query())))
            follower.hold()
            try container.save("first", [1])
            #expect(follower.isWaiting())
            try container.remove("gone")
            try container.rename("old", to: "new")
            try container.save("changed", [1, 2])
            try container.save("came", [1])
            // The feed keeps none of those.
            let end = container.head + UInt64(ChangeFeed.capacity + 100)
            while container.head < end { try container.save("stays", [1]) }
            follower.letGo()
            #expect(try follower.becomes(container.found(Query())), "\(follower.paths ?? [])")
            #expect(follower.paths == ["came", "changed", "first", "new", "stays"])
        }
    }

    @Test func `the largest query ends when all have more results than there may be`() throws {
        try withContainer { container, largest in
            for name in ["a.txt", "b"] { try container.save(name, [1]) }
            let queries = try #require(container.volume.liveQueries)
            let folders = try #require(container.volume.queryFolders)
            queries.engine.withLock { $0.mostResults = 6 }
            let (small, everything) = (try #require(Query("name=*.txt")), Query())
            let other = Follower()
            container.follow(small, other)
            container.follow(everything, largest)
            #expect(folders.folder("texts", small)?.links.count == 1)
            for name in ["c", "d"] { try container.save(name, [1]) }
            queries.settle()
            #expect(largest.end == nil && largest.paths?.count == 4)
            try container.save("e", [1])
            queries.settle()
            #expect(largest.end?.code == ENOSPC && other.end == nil)
            // There is room again, for others and not for that one.
            let again = Follower()
            container.follow(everything, again)
            queries.settle()
            #expect(again.end?.code == ENOSPC)
            try container.save("f.txt", [1])
            try container.save("g.txt", [1])
            queries.settle()
            #expect(other.end == nil && other.paths == ["a.txt", "f.txt", "g.txt"])
            #expect(folders.folder("texts", small)?.links.count == 3)
            // No folder shows for ever what it had when its query ended.
            queries.engine.withLock { $0.mostResults = 3 }
            try container.save("h.txt", [1])
            queries.settle()
            #expect(other.end?.code == ENOSPC)
            #expect(folders.folder("texts", small) == nil)
        }
    }

    /// The keeper flushes once a second what nobody waits for, and what follows on something else
    /// waits for a quiet tenth of a second. The quickest of some saves has waited for neither.
    @Test(arguments: [0, 10_000] as [UInt32])
    func `after a quiet time a save in place is told at once`(_ pause: UInt32) throws {
        try withContainer { container, follower in
            try container.save("document", [])
            container.follow(Query(), follower)
            #expect(try follower.becomes(container.found(Query())))
            var quickest = UInt64.max
            for size in 1...12 {
                usleep(150_000)
                try container.save("document", [UInt8](repeating: 1, count: size), pause: pause)
                let start = MonotonicClock.now
                #expect(try follower.becomes(container.found(Query())))
                quickest = min(quickest, MonotonicClock.now - start)
            }
            #expect(quickest < 90_000_000)
        }
    }

    /// Each batch is offered to every live query: a thousand of them would slow down who makes the changes.
    @Test func `what changes while a batch is told waits for quiet`() throws {
        try withContainer { container, follower in
            container.follow(Query(), follower)
            #expect(try follower.becomes(container.found(Query())))
            follower.hold()
            try container.save("first", [1])
            #expect(follower.isWaiting())
            let start = MonotonicClock.now
            try container.save("second", [1])
            follower.letGo()
            #expect(try follower.becomes(container.found(Query())), "\(follower.paths ?? [])")
            #expect(MonotonicClock.now - start >= 100_000_000)
        }
    }

    @Test func `an item that is replaced is told to go`() throws {
        try withContainer { container, follower in
            for name in ["new", "old"] { try container.save(name, Array(name.utf8)) }
            container.follow(Query(), follower)
            #expect(try follower.becomes(container.found(Query())))
            try container.rename("new", to: "old")
            #expect(try follower.becomes(container.found(Query())), "\(follower.paths ?? [])")
            #expect(follower.paths == ["old"])
        }
    }

    @Test func `a folder that gets a name is told with it`() throws {
        try withContainer { container, follower in
            var query = Query()
            query.kind = .folders
            let folder = try container.makeFolder("folder")
            container.follow(query, follower)
            #expect(try follower.becomes(container.found(query)))
            // Its times are others, without a change of its own.
            try container.makeFolder("below", in: folder)
            #expect(try follower.becomes(container.found(query)))
            #expect(follower.paths == ["folder", "folder/below"])
        }
    }
}
