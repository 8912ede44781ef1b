import Coordination
import Model
import Probing
import SystemCalls
import Testing

@testable import FileSystem

/// The folders of saved queries.
@Suite struct QueryFolderTests {
    @Test func `who looks at a query's folder at the same time as others finds its results`() throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a.txt", [1])
            let volume = container.volume
            let query = try #require(Query("name=*.txt"))
            let (count, counts) = (4, Monitor<[Int?]>([]))
            for round in 0..<200 {
                let gate = Monitor(0)
                for _ in 0..<count {
                    Threads.start("looks") {
                        gate.signal { $0 += 1 }
                        _ = gate.wait { $0 == count ? true : nil }
                        let folder = volume.queryFolders?.folder("\(round)", query)
                        counts.signal { $0.append(folder?.links.count) }
                    }
                }
                _ = counts.wait { $0.count == count * (round + 1) ? true : nil }
            }
            #expect(counts.withLock { $0 }.allSatisfy { $0 == 1 })
        }
    }

    private static func found(_ item: UInt64, _ path: String) -> Found {
        Found(
            item: ItemNumber(rawValue: item), document: DocumentID(rawValue: item), path: path,
            isFolder: false, size: 0, modified: Timestamp(rawValue: 0), isPromise: false)
    }

    private static func batch(from old: [Found], to new: [Found]) -> QueryBatch {
        let difference = ListDifference(from: old, to: new) { $0.item }
        return QueryBatch(
            difference: difference, added: difference.added.map { new[$0] },
            updated: difference.updated.map { new[$0] })
    }

    private static func texts(_ links: [QueryFolder.Link]) -> [String] {
        links.map { "\($0.0) \($0.1)" }
    }

    @Test(arguments: 0..<20)
    func `a folder that follows its results is the one that is made anew`(seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        // Few names, and those that numbers make of them.
        let paths = ["a", "b", "a (2)", "b (2)", "a (3)", "c", "d"].flatMap { name in
            ["w", "x", "y", "z"].map { "\($0)/\(name)" }
        }
        var results: [Found] = []
        var folder = QueryFolder(results)
        for item in 1...200 {
            var now = results
            for turn in 0...random.below(3) {
                let free = paths.filter { path in !now.contains { $0.path == path } }
                let place = random.below(now.count + 1)
                let path = free.isEmpty ? nil : free[random.below(free.count)]
                switch (random.below(5), path) {
                case (0, _) where place < now.count: now.remove(at: place)
                case (1, _) where place < now.count:
                    let moved = now.remove(at: place)
                    now.insert(moved, at: random.below(now.count + 1))
                case (2, let path?) where place < now.count:
                    now[place] = Self.found(now[place].item.rawValue, path)
                case (3, _) where place < now.count:
                    // Saved by renaming: another item by the same path.
                    now[place] = Self.found(UInt64(10 * item + turn), now[place].path)
                case (_, let path?):
                    now.insert(Self.found(UInt64(10 * item + turn), path), at: place)
                default: break
                }
            }
            let before = folder
            let change = folder.follow(Self.batch(from: results, to: now))
            let anew = QueryFolder(now)
            let wanted = before.change(to: anew)
            #expect(Self.texts(folder.links) == Self.texts(anew.links))
            #expect(Self.texts(change.gone).sorted() == Self.texts(wanted.gone).sorted())
            #expect(Self.texts(change.came).sorted() == Self.texts(wanted.came).sorted())
            for path in paths {
                let name = String(path.dropFirst(2))
                #expect(folder.node(name) == anew.node(name), "\(name)")
            }
            results = now
        }
    }

    @Test func `one result more does not cost what the links of all do`() {
        var results = (1...30_000).map { Self.found($0, "folder/\($0)") }
        var folder = QueryFolder([])
        func time(_ body: () -> Void) -> UInt64 {
            let start = MonotonicClock.now
            body()
            return MonotonicClock.now - start
        }
        let all = time { folder = QueryFolder(results) }
        let one = (0..<20).map { turn -> UInt64 in
            let result = Self.found(UInt64(40_000 + turn), "folder/new \(turn)")
            results.insert(result, at: 15_000)
            let batch = QueryBatch(
                difference: ListDifference(added: [15_000]), added: [result], updated: [])
            return time { _ = folder.follow(batch) }
        }
        #expect(folder.links.count == results.count)
        #expect((one.min() ?? all) * 20 < all, "\(one) of \(all) ns")
    }
}
