internal import Model

/// What a run of effects comes to: at most one write for each row. Pure.
///
/// Writing it gives the same tables as applying the effects one by one, in less time: a file that
/// is created, written and closed puts its item several times.
struct EffectBatch {
    struct NameKey: Hashable {
        var parent: ItemNumber
        var name: [UInt8]
    }

    struct NamedItem {
        var item: ItemNumber
        var rank: UInt32
    }

    struct SessionKey: Hashable {
        var item: ItemNumber
        var ordinal: Ordinal
    }

    struct GrantKey: Hashable {
        var document: DocumentID
        var application: String
    }

    // In all of these, `nil` as a value means that the row goes.
    private(set) var items: [ItemNumber: ItemRow?] = [:]
    private(set) var names: [NameKey: NamedItem?] = [:]
    private(set) var attributes: [ItemNumber: [[UInt8]: [UInt8]?]] = [:]
    private(set) var versions: [ItemNumber: [Ordinal: VersionRow?]] = [:]
    private(set) var sessions: [SessionKey: SessionRow?] = [:]
    private(set) var origins: [ItemNumber: OriginRow?] = [:]
    private(set) var sources: [ItemNumber: SourceRow] = [:]
    /// Versions in the tables that only change their place; one that the batch puts has it already.
    private(set) var places: [SessionKey: ContentPlace] = [:]

    /// Versions that are pinned (true) or not any more.
    private(set) var pins: [SessionKey: Bool] = [:]
    /// Versions that are marked as those of a conflict (true) or not any more.
    private(set) var conflicts: [SessionKey: Bool] = [:]
    /// Versions that are marked as saves of their own (true), or have gone.
    private(set) var apart: [SessionKey: Bool] = [:]
    private(set) var recents: [DocumentID: Timestamp?] = [:]
    private(set) var bookmarks: [BookmarkID: BookmarkRow?] = [:]
    private(set) var grants: [GrantKey: GrantRow?] = [:]

    /// Items whose attributes in the tables go, before those of the batch are put.
    private(set) var strippedItems: Set<ItemNumber> = []
    /// Items whose versions in the tables change the document, before those of the batch are put.
    private(set) var adoptions: [ItemNumber: DocumentID] = [:]
    /// The highest number of an item or a document that was put, even if it went again.
    private(set) var highestNumber: UInt64 = 0

    mutating func add(_ effect: Effect) {
        switch effect {
        case .putItem(let row):
            items.updateValue(row, forKey: row.number)
            highestNumber = max(highestNumber, row.number.rawValue, row.document.rawValue)
        case .removeItem(let number):
            items.updateValue(nil, forKey: number)
            attributes[number] = nil
            strippedItems.insert(number)
        case .putName(let parent, let name, let item, let rank):
            let named = NamedItem(item: item, rank: rank)
            names.updateValue(named, forKey: NameKey(parent: parent, name: name))
        case .removeName(let parent, let name):
            names.updateValue(nil, forKey: NameKey(parent: parent, name: name))
        case .putAttribute(let item, let name, let value):
            attributes[item, default: [:]].updateValue(value, forKey: name)
        case .removeAttribute(let item, let name):
            attributes[item, default: [:]].updateValue(nil, forKey: name)
        case .putVersion(let row):
            versions[row.item, default: [:]].updateValue(row, forKey: row.ordinal)
        case .removeVersion(let item, let ordinal):
            versions[item, default: [:]].updateValue(nil, forKey: ordinal)
            pins[SessionKey(item: item, ordinal: ordinal)] = false
            conflicts[SessionKey(item: item, ordinal: ordinal)] = false
            apart[SessionKey(item: item, ordinal: ordinal)] = false
        case .adoptVersions(let item, let document):
            adopt(item, document)
        case .placeVersion(let item, let ordinal, let place):
            if let known = versions[item]?[ordinal] {
                guard var row = known else { return }
                row.place = place
                versions[item]?[ordinal] = row
            } else {
                places[SessionKey(item: item, ordinal: ordinal)] = place
            }
        case .pinVersion(let item, let ordinal, let isPinned):
            pins[SessionKey(item: item, ordinal: ordinal)] = isPinned
        case .markConflict(let item, let ordinal, let isConflict):
            conflicts[SessionKey(item: item, ordinal: ordinal)] = isConflict
        case .keepApart(let item, let ordinal):
            apart[SessionKey(item: item, ordinal: ordinal)] = true
        case .putBookmark(let row): bookmarks.updateValue(row, forKey: row.id)
        case .removeBookmark(let id): bookmarks.updateValue(nil, forKey: id)
        case .putGrant(let row):
            let key = GrantKey(document: row.document, application: row.application)
            grants.updateValue(row, forKey: key)
        case .removeGrant(let document, let application):
            let key = GrantKey(document: document, application: application)
            grants.updateValue(nil, forKey: key)
        case .putRecent(let document, let opened): recents.updateValue(opened, forKey: document)
        case .removeRecent(let document): recents.updateValue(nil, forKey: document)
        case .putSession(let row):
            sessions.updateValue(row, forKey: SessionKey(item: row.item, ordinal: row.ordinal))
        case .removeSession(let item, let ordinal):
            sessions.updateValue(nil, forKey: SessionKey(item: item, ordinal: ordinal))
        case .putSource(let row): sources[row.root] = row
        case .putOrigin(let row): origins.updateValue(row, forKey: row.item)
        case .removeOrigin(let item): origins.updateValue(nil, forKey: item)
        }
    }

    private mutating func adopt(_ item: ItemNumber, _ document: DocumentID) {
        adoptions[item] = document
        versions[item] = versions[item]?.mapValues { row in
            var adopted = row
            adopted?.document = document
            return adopted
        }
    }
}
