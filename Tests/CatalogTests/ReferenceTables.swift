import Catalog
import Model

/// What effects do to the tables, in the most obvious way; the tests' reference.
struct ReferenceTables {
    private struct Pair: Hashable { var item: ItemNumber, ordinal: Ordinal }
    private struct Key: Hashable { var item: ItemNumber, name: [UInt8] }
    private struct Named { var item: ItemNumber, rank: UInt32 }

    private var items: [ItemNumber: ItemRow] = [:]
    private var names: [Key: Named] = [:]
    private var attributes: [Key: [UInt8]] = [:]
    private var versions: [Pair: VersionRow] = [:]
    private var sessions: [Pair: SessionRow] = [:]
    private var pins: Set<Pair> = []
    private var conflicts: Set<Pair> = []
    private var apart: Set<Pair> = []
    private var bookmarks: [BookmarkID: BookmarkRow] = [:]
    private var grants: [GrantRow] = []
    private var recents: [DocumentID: Timestamp] = [:]
    private var sources: [ItemNumber: SourceRow] = [:]
    private var origins: [ItemNumber: OriginRow] = [:]
    private var changes: [ChangeRow] = []
    private var highest: UInt64 = 0

    mutating func apply(_ mutation: Mutation) {
        var removed: NamePlace?
        var taken: NamePlace?
        for effect in mutation.effects where mutation.kind == .renamed {
            if case .removeName(let parent, let name) = effect {
                removed = NamePlace(parent: parent, name: name)
            } else if case .putName(let parent, let name, let holder, _) = effect, taken == nil,
                holder != mutation.item
            {
                taken = NamePlace(parent: parent, name: name)
            }
        }
        changes.append(
            ChangeRow(
                sequence: mutation.sequence, time: mutation.time, kind: mutation.kind,
                item: mutation.item, parent: mutation.parent, name: mutation.name,
                process: mutation.process, former: removed ?? taken))
        for effect in mutation.effects { apply(effect) }
    }

    private mutating func apply(_ effect: Effect) {
        switch effect {
        case .putItem(let row):
            items[row.number] = row
            highest = max(highest, row.number.rawValue, row.document.rawValue)
        case .removeItem(let number):
            items[number] = nil
            attributes = attributes.filter { $0.key.item != number }
        case .putName(let parent, let name, let item, let rank):
            names[Key(item: parent, name: name)] = Named(item: item, rank: rank)
        case .removeName(let parent, let name): names[Key(item: parent, name: name)] = nil
        case .putAttribute(let item, let name, let value):
            attributes[Key(item: item, name: name)] = value
        case .removeAttribute(let item, let name): attributes[Key(item: item, name: name)] = nil
        case .putVersion(let row): versions[Pair(item: row.item, ordinal: row.ordinal)] = row
        case .removeVersion(let item, let ordinal):
            versions[Pair(item: item, ordinal: ordinal)] = nil
            pins.remove(Pair(item: item, ordinal: ordinal))
            conflicts.remove(Pair(item: item, ordinal: ordinal))
            apart.remove(Pair(item: item, ordinal: ordinal))
        case .adoptVersions(let item, let document):
            for pair in versions.keys where pair.item == item {
                versions[pair]?.document = document
            }
        case .placeVersion(let item, let ordinal, let place):
            versions[Pair(item: item, ordinal: ordinal)]?.place = place
        case .pinVersion(let item, let ordinal, let isPinned):
            let pair = Pair(item: item, ordinal: ordinal)
            if isPinned { pins.insert(pair) } else { pins.remove(pair) }
        case .markConflict(let item, let ordinal, let isConflict):
            let pair = Pair(item: item, ordinal: ordinal)
            if isConflict { conflicts.insert(pair) } else { conflicts.remove(pair) }
        case .keepApart(let item, let ordinal): apart.insert(Pair(item: item, ordinal: ordinal))
        case .putBookmark(let row): bookmarks[row.id] = row
        case .removeBookmark(let id): bookmarks[id] = nil
        case .putGrant(let row):
            removeGrant(row.document, row.application)
            grants.append(row)
        case .removeGrant(let document, let application): removeGrant(document, application)
        case .putRecent(let document, let opened): recents[document] = opened
        case .removeRecent(let document): recents[document] = nil
        case .putSession(let row): sessions[Pair(item: row.item, ordinal: row.ordinal)] = row
        case .removeSession(let item, let ordinal):
            sessions[Pair(item: item, ordinal: ordinal)] = nil
        case .putSource(let row): sources[row.root] = row
        case .putOrigin(let row): origins[row.item] = row
        case .removeOrigin(let item): origins[item] = nil
        }
    }

    private mutating func removeGrant(_ document: DocumentID, _ application: String) {
        grants.removeAll { $0.document == document && $0.application == application }
    }

    /// In the order that the catalog shows its rows in.
    var tables: Tables {
        var tables = Tables()
        tables.items = items.values.sorted { $0.number < $1.number }
        tables.names = sorted(names).map {
            .init(
                parent: $0.key.item, name: $0.key.name, item: $0.value.item, rank: $0.value.rank)
        }
        tables.attributes = sorted(attributes).map {
            .init(item: $0.key.item, name: $0.key.name, value: $0.value)
        }
        tables.versions = versions.values.sorted { ($0.item, $0.ordinal) < ($1.item, $1.ordinal) }
        tables.sessions = sessions.values.sorted { ($0.item, $0.ordinal) < ($1.item, $1.ordinal) }
        tables.pins = pins.sorted { ($0.item, $0.ordinal) < ($1.item, $1.ordinal) }.map {
            NodeNumber($0.item, $0.ordinal)
        }
        for pair in conflicts {
            tables.conflicts[NodeNumber(pair.item, pair.ordinal)] = versions[pair]?.document
        }
        for pair in apart {
            tables.apart[NodeNumber(pair.item, pair.ordinal)] = versions[pair]?.document
        }
        tables.bookmarks = bookmarks.values.sorted {
            ($0.id.high, $0.id.low) < ($1.id.high, $1.id.low)
        }
        tables.grants = grants.sorted {
            ($0.document.rawValue, $0.application) < ($1.document.rawValue, $1.application)
        }
        tables.recents = recents
        tables.sources = sources.values.sorted { $0.root < $1.root }
        tables.origins = origins.values.sorted { $0.item < $1.item }
        tables.changes = changes
        tables.applied = changes.last?.sequence ?? 0
        tables.highest = highest
        return tables
    }

    private func sorted<Value>(_ rows: [Key: Value]) -> [(key: Key, value: Value)] {
        rows.sorted { left, right in
            if left.key.item != right.key.item { return left.key.item < right.key.item }
            return left.key.name.lexicographicallyPrecedes(right.key.name)
        }
    }
}
