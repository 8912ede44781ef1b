import Catalog
import Foundation
import Model
import Probing
import Testing

/// A folder that is removed when the test lets go of it.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/catalog-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    /// Bytes of a file in it; 0 if there is none.
    func size(_ name: String) -> Int {
        (try? Data(contentsOf: URL(fileURLWithPath: file(name))).count) ?? 0
    }
}

/// All that a catalog holds, for comparing two.
struct Tables: Equatable {
    struct NameRow: Hashable {
        var parent: ItemNumber, name: [UInt8], item: ItemNumber, rank: UInt32
    }
    struct AttributeRow: Hashable { var item: ItemNumber, name: [UInt8], value: [UInt8] }

    var items: [ItemRow] = []
    var names: [NameRow] = []
    var attributes: [AttributeRow] = []
    var versions: [VersionRow] = []
    var sessions: [SessionRow] = []
    var pins: [NodeNumber] = []
    var conflicts: [NodeNumber: DocumentID] = [:]
    var apart: [NodeNumber: DocumentID] = [:]
    var bookmarks: [BookmarkRow] = []
    var grants: [GrantRow] = []
    var recents: [DocumentID: Timestamp] = [:]
    var sources: [SourceRow] = []
    var origins: [OriginRow] = []
    var changes: [ChangeRow] = []
    var applied: ChangeSequence = 0
    var highest: UInt64 = 0

    init() {}

    init(_ database: CatalogDatabase) throws {
        try database.loadItems { items.append($0) }
        try database.loadNames {
            names.append(NameRow(parent: $0, name: Array($1), item: $2, rank: $3))
        }
        try database.loadAttributes {
            attributes.append(AttributeRow(item: $0, name: Array($1), value: Array($2)))
        }
        try database.forEachVersion { versions.append($0) }
        sessions = try database.sessions()
        pins = try database.pinnedVersions()
        conflicts = try database.conflictVersions()
        for document in Set(versions.map(\.document)) {
            for node in try database.versionsKeptApart(of: document) { apart[node] = document }
        }
        bookmarks = try database.bookmarks()
        grants = try database.grants()
        recents = try database.recents()
        sources = try database.sources()
        origins = try database.origins()
        changes = try database.changes(after: 0, limit: .max)
        applied = database.appliedSequence
        highest = database.highestNumber
    }
}

func mutation(_ sequence: ChangeSequence, _ effects: [Effect]) -> Mutation {
    Mutation(
        sequence: sequence, time: Timestamp(seconds: 1_700_000_000, nanoseconds: Int64(sequence)),
        kind: .created, item: ItemNumber(rawValue: 7), effects: effects)
}

func hash(_ byte: UInt8) -> ContentHash? { ContentHash(bytes: (0..<32).map { $0 &* 7 &+ byte }) }

/// Rows with every field different from its neighbours, and extremes now and then.
extension SplitMix {
    mutating func bytes(atMost count: Int) -> [UInt8] {
        (0..<below(count + 1)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    mutating func timestamp() -> Timestamp {
        Timestamp(
            seconds: Int64.random(in: -3_000_000_000...20_000_000_000, using: &self),
            nanoseconds: Int64(below(1_000_000_000)))
    }

    mutating func place() -> ContentPlace {
        [.none, .staged, .sealed, .stored, .promised].randomElement(using: &self) ?? .none
    }

    mutating func hashOrNone() -> ContentHash? {
        chance(50) ? hash(UInt8(truncatingIfNeeded: next())) : nil
    }

    mutating func item(_ number: ItemNumber) -> ItemRow {
        ItemRow(
            number: number, mode: UInt32.random(in: 0...(.max), using: &self),
            user: chance(10) ? .max : UInt32(below(70_000)), group: UInt32(below(70_000)),
            links: UInt32(below(4)), device: chance(10) ? .max : next() >> 40,
            size: chance(10) ? .max : Int64(below(1 << 40)), blocks: Int64(below(1 << 30)),
            modified: timestamp(), changed: timestamp(), accessed: timestamp(),
            document: DocumentID(rawValue: next() >> 20), ordinal: UInt32(below(9)),
            nextOrdinal: UInt32(below(100)), place: place(), hash: hashOrNone(),
            target: chance(30) ? bytes(atMost: 40) : nil)
    }

    mutating func version(_ item: ItemNumber, _ ordinal: Ordinal) -> VersionRow {
        VersionRow(
            document: DocumentID(rawValue: UInt64(below(5))), item: item, ordinal: ordinal,
            size: Int64(below(1 << 40)), blocks: Int64(below(1 << 30)), modified: timestamp(),
            published: timestamp(), author: UInt32(below(70_000)), place: place(),
            hash: hashOrNone())
    }

    mutating func session(_ item: ItemNumber, _ ordinal: Ordinal) -> SessionRow {
        SessionRow(
            item: item, ordinal: ordinal, author: UInt32(below(70_000)),
            size: Int64(below(1 << 40)), modified: timestamp(), changed: timestamp(),
            wrote: chance(50), synced: chance(50))
    }

    mutating func bookmark() -> BookmarkRow {
        BookmarkRow(
            id: BookmarkID(high: UInt64(below(2)), low: UInt64(below(2))),
            document: DocumentID(rawValue: next()), application: chance(50) ? "" : "org.example",
            created: timestamp())
    }

    mutating func grant() -> GrantRow {
        GrantRow(
            document: DocumentID(rawValue: UInt64(below(3))), application: chance(50) ? "a" : "b",
            terms: GrantTerms(
                access: chance(50) ? .read : .write, until: chance(50) ? timestamp() : nil),
            granted: timestamp())
    }

    /// An effect on one of few rows, so that effects meet.
    mutating func effect() -> Effect {
        let item = ItemNumber(rawValue: UInt64(below(6) + 1))
        let ordinal = UInt32(below(3))
        let known: [[UInt8]] = [[], [0xff, 0xfe], Array("a".utf8), Array("b".utf8)]
        let name = known[below(known.count)]
        return switch below(24) {
        case 0: .putItem(self.item(item))
        case 1: .removeItem(item)
        case 2:
            .putName(
                parent: item, name: name, item: ItemNumber(rawValue: UInt64(below(6) + 1)),
                rank: chance(50) ? 0 : UInt32(below(3)))
        case 3: .removeName(parent: item, name: name)
        case 4: .putAttribute(item, name: name, value: bytes(atMost: 5))
        case 5: .removeAttribute(item, name: name)
        case 6: .putVersion(version(item, ordinal))
        case 7: .removeVersion(item, ordinal)
        case 8: .adoptVersions(item: item, document: DocumentID(rawValue: UInt64(below(5))))
        case 9: .putSession(session(item, ordinal))
        case 16: .putSource(SourceRow(root: item, address: "folder:/" + String(below(99))))
        case 17:
            .putOrigin(
                OriginRow(
                    item: item, source: ItemNumber(rawValue: UInt64(below(3))),
                    path: bytes(atMost: 9), identity: bytes(atMost: 5), tag: bytes(atMost: 5),
                    content: hashOrNone(),
                    waitsAt: ordinal == 1 ? NamePlace(parent: item, name: name) : nil))
        case 18: .removeOrigin(item)
        case 19: .putGrant(grant())
        case 20: .removeGrant(DocumentID(rawValue: UInt64(below(3))), application: "a")
        case 10: .placeVersion(item, ordinal, place())
        case 12: .putBookmark(bookmark())
        case 13: .removeBookmark(bookmark().id)
        case 14: .putRecent(DocumentID(rawValue: UInt64(below(5))), timestamp())
        case 15: .removeRecent(DocumentID(rawValue: UInt64(below(5))))
        case 11: .pinVersion(item, ordinal, chance(70))
        case 21: .markConflict(item, ordinal, chance(70))
        case 22: .keepApart(item, ordinal)
        default: .removeSession(item, ordinal)
        }
    }

    mutating func mutation(_ sequence: ChangeSequence) -> Mutation {
        Mutation(
            sequence: sequence, time: timestamp(),
            kind: ChangeKind.allCases.randomElement(using: &self) ?? .created,
            item: ItemNumber(rawValue: UInt64(below(9))),
            parent: chance(50) ? ItemNumber(rawValue: UInt64(below(9))) : nil,
            name: chance(50) ? bytes(atMost: 9) : nil, process: Int32(below(1 << 22)) - 5,
            effects: (0..<below(5)).map { _ in effect() })
    }
}
