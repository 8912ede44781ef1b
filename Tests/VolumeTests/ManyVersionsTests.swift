import Catalog
import Coordination
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// The keeper and the versions of many documents.
@Suite struct ManyVersionsTests {
    /// Makes a container whose documents have an earlier version each.
    private func make(_ path: String, documents: UInt64) throws {
        try Container.create("test", at: path)
        let database = try CatalogDatabase(path: path + "/catalog.sqlite", create: false)
        defer { database.close() }
        let now = Timestamp(WallClock.now)
        let earlier = Timestamp(seconds: now.seconds - 60, nanoseconds: 0)
        var effects: [Effect] = []
        for number in 2..<(2 + documents) {
            let (item, document) = (ItemNumber(rawValue: number), DocumentID(rawValue: number))
            let hash = ContentHash(word0: number, word1: 1, word2: 1, word3: 1)
            effects.append(
                .putItem(
                    ItemRow(
                        number: item, mode: 0o100644, user: 0, group: 0, links: 1, size: 1,
                        modified: now, changed: now, accessed: now, document: document,
                        ordinal: 2, nextOrdinal: 3, place: .sealed, hash: hash)))
            effects.append(
                .putName(parent: .root, name: Array("\(number)".utf8), item: item))
            for (ordinal, published) in [(1, earlier), (2, now)] as [(Ordinal, Timestamp)] {
                effects.append(
                    .putVersion(
                        VersionRow(
                            document: document, item: item, ordinal: ordinal, size: 1, blocks: 8,
                            modified: published, published: published, author: 0, place: .sealed,
                            hash: hash)))
            }
        }
        try database.apply([
            Mutation(
                sequence: database.appliedSequence + 1, time: now, kind: .repaired, item: .root,
                effects: effects)
        ])
    }

    @Test func `who asks the catalog does not wait until all documents are looked at`() throws {
        try InsideContainer.withFolder { path in
            try make(path, documents: 30_000)
            let container = try InsideContainer(path)
            defer { container.close() }
            let weeding = Weeding(container.volume)
            let whole = Monitor<UInt64?>(nil)
            let begun = MonotonicClock.now
            Threads.start("looking") {
                _ = weeding.thin(tight: false, everything: true)
                whole.signal { $0 = MonotonicClock.now - begun }
            }
            var longest: UInt64 = 0
            while whole.withLock({ $0 }) == nil {
                let asked = MonotonicClock.now
                _ = try container.volume.versionRow(NodeNumber(.root, 0))
                longest = max(longest, MonotonicClock.now - asked)
            }
            let took = try #require(whole.withLock { $0 })
            #expect(longest < took / 3, "\(longest / 1_000_000) of \(took / 1_000_000) ms")
        }
    }
}
