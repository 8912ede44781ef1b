import Catalog
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// The folder of a document's versions.
@Suite struct VersionListingTests {
    private let caller = InsideContainer.caller(of: getpid())

    @Test func `a listing of versions shows what stays while others go`() throws {
        try InsideContainer.withFolder { path in
            let item = ItemNumber(rawValue: 2)
            try make(path, item, versions: 40)
            let container = try InsideContainer(path)
            defer { container.close() }
            let (begun, next) = try container.list("versions", "a", from: 0, atMost: 12)
            #expect(begun.count == 12)
            let node = try #require(try container.find("a"))
            for ordinal in 1...10 as ClosedRange<Ordinal> {
                let version = NodeNumber(item, ordinal)
                try container.volume.setVersionMark(
                    .pin, node, version.versionName[...], "default", caller)
            }
            for _ in 0..<1_000 {
                if try container.volume.versionRow(NodeNumber(item, 10)) == nil { break }
                usleep(10_000)
            }
            #expect(try container.volume.versionRow(NodeNumber(item, 10)) == nil)
            let rest = try container.list("versions", "a", from: next, atMost: 100).names
            let now = try container.list("versions", "a", from: 0, atMost: 100).names
            #expect(now.count == 2 + 30)
            #expect(Set(begun + rest).isSuperset(of: now), "\(rest.count)")
        }
    }

    /// Makes a container with a document that has that many earlier versions, all of them pinned.
    private func make(_ path: String, _ item: ItemNumber, versions: Ordinal) throws {
        try Container.create("test", at: path)
        let database = try CatalogDatabase(path: path + "/catalog.sqlite", create: false)
        defer { database.close() }
        let now = Timestamp(WallClock.now)
        // In one hour, of which the last stays.
        let hour = (now.seconds / 3_600 - 3) * 3_600
        let (document, hash) = (
            DocumentID(rawValue: item.rawValue),
            ContentHash(word0: 1, word1: 1, word2: 1, word3: 1)
        )
        var effects: [Effect] = [
            .putItem(
                ItemRow(
                    number: item, mode: 0o100644, user: geteuid(), group: getegid(), links: 1,
                    size: 1, modified: now, changed: now, accessed: now, document: document,
                    ordinal: versions + 1, nextOrdinal: versions + 2, place: .sealed, hash: hash)),
            .putName(parent: .root, name: Array("a".utf8), item: item),
        ]
        for ordinal in 1...(versions + 1) {
            let time =
                ordinal > versions
                ? now : Timestamp(seconds: hour + Int64(ordinal) * 10, nanoseconds: 0)
            effects.append(
                .putVersion(
                    VersionRow(
                        document: document, item: item, ordinal: ordinal, size: 1, blocks: 8,
                        modified: time, published: time, author: 0, place: .sealed, hash: hash)))
            if ordinal <= versions { effects.append(.pinVersion(item, ordinal, true)) }
        }
        try database.apply([
            Mutation(
                sequence: database.appliedSequence + 1, time: now, kind: .repaired, item: .root,
                effects: effects)
        ])
    }
}
