import Catalog
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

/// The check of a container with a great many documents.
@Suite struct LargeCheckTests {
    private static let count: UInt64 = 60_000

    @Test(.timeLimit(.minutes(2)))
    func `a check takes time that grows with the documents and not with their square`() throws {
        try InsideContainer.withFolder { path in
            try Container.create("test", at: path)
            let database = try CatalogDatabase(path: path + "/catalog.sqlite", create: false)
            let time = Timestamp(WallClock.now)
            var mutations: [Mutation] = []
            for number in 2...(Self.count + 1) {
                let item = ItemNumber(rawValue: number)
                let document = DocumentID(rawValue: number)
                // Contents that have never been here: it is the catalog that is looked at.
                let row = ItemRow(
                    number: item, mode: S_IFREG | 0o644, user: getuid(), group: getgid(), links: 1,
                    size: 5, blocks: 8, modified: time, changed: time, accessed: time,
                    document: document, ordinal: 1, nextOrdinal: 2, place: .elsewhere)
                let version = VersionRow(
                    document: document, item: item, ordinal: 1, size: 5, blocks: 8, modified: time,
                    published: time, author: getuid(), place: .elsewhere, hash: nil)
                mutations.append(
                    Mutation(
                        sequence: database.appliedSequence + number - 1, time: time, kind: .created,
                        item: item,
                        effects: [
                            .putItem(row), .putVersion(version),
                            .putName(parent: .root, name: Array("f\(number)".utf8), item: item),
                        ]))
            }
            try database.applyAll(mutations)
            try database.checkpoint()
            database.close()
            let report = try ContainerCheck.run("test", at: path)
            #expect(report.findings.map(\.problem) == [])
            #expect(report.items == Int(Self.count) + 1 && report.versions == Int(Self.count))
        }
    }
}
