import Model

/// Mutations as bytes of the journal. A new kind of effect takes a new tag; tags are never reused.
enum MutationCoding {
    private enum Tag: UInt8 {
        case putItem = 1, removeItem, putName, removeName, putAttribute, removeAttribute
        case putVersion, removeVersion, adoptVersions, putSession, removeSession, placeVersion
        case pinVersion, putBookmark, removeBookmark, putRecent, removeRecent
        case putSource, putOrigin, removeOrigin
        case markConflict
        case putGrant, removeGrant
        case keepApart
        /// An origin whose item waits for its name.
        case putWaitingOrigin
        /// A name that has a rank.
        case putLink
    }

    static func encode(_ mutation: Mutation, _ writer: inout ByteWriter) {
        writer.put(mutation.sequence)
        writer.putFixed(mutation.time.rawValue)
        writer.put(mutation.kind.rawValue)
        writer.put(mutation.item.rawValue)
        writer.put(mutation.parent?.rawValue ?? 0)
        writer.put(mutation.name != nil)
        if let name = mutation.name { writer.put(name) }
        writer.put(Int64(mutation.process))
        writer.put(UInt64(mutation.effects.count))
        for effect in mutation.effects { encode(effect, &writer) }
    }

    static func decode(_ bytes: ArraySlice<UInt8>) throws(ByteReader.Malformed) -> Mutation {
        var reader = ByteReader(bytes)
        let sequence = try reader.unsigned()
        // What counts on from it must not overflow.
        guard sequence <= CatalogDatabase.largestSequence else { throw ByteReader.Malformed() }
        let time = Timestamp(rawValue: try reader.fixed())
        guard let kind = ChangeKind(rawValue: try reader.byte()) else {
            throw ByteReader.Malformed()
        }
        let item = ItemNumber(rawValue: try reader.unsigned())
        let parent = try reader.unsigned()
        let name: [UInt8]? = try reader.bool() ? try reader.string() : nil
        let process = Int32(truncatingIfNeeded: try reader.signed())
        var effects: [Effect] = []
        for _ in 0..<(try reader.unsigned()) { effects.append(try decodeEffect(&reader)) }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
        return Mutation(
            sequence: sequence, time: time, kind: kind, item: item,
            parent: parent == 0 ? nil : ItemNumber(rawValue: parent), name: name,
            process: process, effects: effects)
    }

    private static func encode(_ effect: Effect, _ writer: inout ByteWriter) {
        switch effect {
        case .putItem(let row):
            writer.put(Tag.putItem.rawValue)
            encode(row, &writer)
        case .removeItem(let item):
            writer.put(Tag.removeItem.rawValue)
            writer.put(item.rawValue)
        case .putName(let parent, let name, let item, let rank):
            writer.put((rank == 0 ? Tag.putName : .putLink).rawValue)
            writer.put(parent.rawValue)
            writer.put(name)
            writer.put(item.rawValue)
            if rank > 0 { writer.put(rank) }
        case .removeName(let parent, let name):
            writer.put(Tag.removeName.rawValue)
            writer.put(parent.rawValue)
            writer.put(name)
        case .putAttribute(let item, let name, let value):
            writer.put(Tag.putAttribute.rawValue)
            writer.put(item.rawValue)
            writer.put(name)
            writer.put(value)
        case .removeAttribute(let item, let name):
            writer.put(Tag.removeAttribute.rawValue)
            writer.put(item.rawValue)
            writer.put(name)
        case .putVersion(let row):
            writer.put(Tag.putVersion.rawValue)
            encode(row, &writer)
        case .removeVersion(let item, let ordinal):
            writer.put(Tag.removeVersion.rawValue)
            writer.put(item.rawValue)
            writer.put(ordinal)
        case .adoptVersions(let item, let document):
            writer.put(Tag.adoptVersions.rawValue)
            writer.put(item.rawValue)
            writer.put(document.rawValue)
        case .placeVersion(let item, let ordinal, let place):
            writer.put(Tag.placeVersion.rawValue)
            writer.put(item.rawValue)
            writer.put(ordinal)
            writer.put(place.rawValue)
        case .pinVersion(let item, let ordinal, let isPinned):
            writer.put(Tag.pinVersion.rawValue)
            writer.put(item.rawValue)
            writer.put(ordinal)
            writer.put(isPinned)
        case .markConflict(let item, let ordinal, let isConflict):
            writer.put(Tag.markConflict.rawValue)
            writer.put(item.rawValue)
            writer.put(ordinal)
            writer.put(isConflict)
        case .keepApart(let item, let ordinal):
            writer.put(Tag.keepApart.rawValue)
            writer.put(item.rawValue)
            writer.put(ordinal)
        case .putBookmark(let row):
            writer.put(Tag.putBookmark.rawValue)
            encode(row.id, &writer)
            writer.put(row.document.rawValue)
            writer.put(Array(row.application.utf8))
            writer.putFixed(row.created.rawValue)
        case .removeBookmark(let id):
            writer.put(Tag.removeBookmark.rawValue)
            encode(id, &writer)
        case .putGrant(let row):
            writer.put(Tag.putGrant.rawValue)
            encode(row, &writer)
        case .removeGrant(let document, let application):
            writer.put(Tag.removeGrant.rawValue)
            writer.put(document.rawValue)
            writer.put(Array(application.utf8))
        case .putRecent(let document, let opened):
            writer.put(Tag.putRecent.rawValue)
            writer.put(document.rawValue)
            writer.putFixed(opened.rawValue)
        case .removeRecent(let document):
            writer.put(Tag.removeRecent.rawValue)
            writer.put(document.rawValue)
        case .putSession(let row):
            writer.put(Tag.putSession.rawValue)
            encode(row, &writer)
        case .removeSession(let item, let ordinal):
            writer.put(Tag.removeSession.rawValue)
            writer.put(item.rawValue)
            writer.put(ordinal)
        case .putSource(let row):
            writer.put(Tag.putSource.rawValue)
            writer.put(row.root.rawValue)
            writer.put(Array(row.address.utf8))
        case .putOrigin(let row):
            writer.put((row.waitsAt == nil ? Tag.putOrigin : .putWaitingOrigin).rawValue)
            encode(row, &writer)
        case .removeOrigin(let item):
            writer.put(Tag.removeOrigin.rawValue)
            writer.put(item.rawValue)
        }
    }

    private static func decodeEffect(_ reader: inout ByteReader) throws(ByteReader.Malformed)
        -> Effect
    {
        guard let tag = Tag(rawValue: try reader.byte()) else { throw ByteReader.Malformed() }
        if tag == .putVersion { return .putVersion(try decodeVersion(&reader)) }
        if tag == .putItem { return .putItem(try decodeItem(&reader)) }
        if tag == .putSession { return .putSession(try decodeSession(&reader)) }
        if tag == .putRecent || tag == .removeRecent {
            let document = DocumentID(rawValue: try reader.unsigned())
            return tag == .removeRecent
                ? .removeRecent(document)
                : .putRecent(document, Timestamp(rawValue: try reader.fixed()))
        }
        if tag == .removeBookmark { return .removeBookmark(try decodeBookmarkID(&reader)) }
        if tag == .putBookmark {
            return .putBookmark(
                BookmarkRow(
                    id: try decodeBookmarkID(&reader),
                    document: DocumentID(rawValue: try reader.unsigned()),
                    application: String(decoding: try reader.string(), as: UTF8.self),
                    created: Timestamp(rawValue: try reader.fixed())))
        }
        if tag == .putGrant { return .putGrant(try decodeGrant(&reader)) }
        if tag == .removeGrant {
            return .removeGrant(
                DocumentID(rawValue: try reader.unsigned()),
                application: String(decoding: try reader.string(), as: UTF8.self))
        }
        if tag == .putOrigin { return .putOrigin(try decodeOrigin(&reader)) }
        if tag == .putWaitingOrigin {
            var row = try decodeOrigin(&reader)
            let parent = ItemNumber(rawValue: try reader.unsigned())
            row.waitsAt = NamePlace(parent: parent, name: try reader.string())
            return .putOrigin(row)
        }
        let item = ItemNumber(rawValue: try reader.unsigned())
        switch tag {
        case .removeItem: return .removeItem(item)
        case .putName, .putLink:
            let name = try reader.string()
            let named = ItemNumber(rawValue: try reader.unsigned())
            var rank: UInt32 = 0
            if tag == .putLink { rank = try reader.unsigned32() }
            return .putName(parent: item, name: name, item: named, rank: rank)
        case .removeName: return .removeName(parent: item, name: try reader.string())
        case .putAttribute:
            let name = try reader.string()
            return .putAttribute(item, name: name, value: try reader.string())
        case .removeAttribute: return .removeAttribute(item, name: try reader.string())
        case .removeVersion: return .removeVersion(item, try reader.unsigned32())
        case .adoptVersions:
            return .adoptVersions(
                item: item, document: DocumentID(rawValue: try reader.unsigned()))
        case .removeSession: return .removeSession(item, try reader.unsigned32())
        case .placeVersion:
            let ordinal = try reader.unsigned32()
            return .placeVersion(item, ordinal, try decodePlace(&reader))
        case .pinVersion:
            let ordinal = try reader.unsigned32()
            return .pinVersion(item, ordinal, try reader.bool())
        case .markConflict:
            let ordinal = try reader.unsigned32()
            return .markConflict(item, ordinal, try reader.bool())
        case .keepApart: return .keepApart(item, try reader.unsigned32())
        case .putSource:
            return .putSource(
                SourceRow(root: item, address: String(decoding: try reader.string(), as: UTF8.self))
            )
        case .removeOrigin: return .removeOrigin(item)
        case .putItem, .putVersion, .putSession, .putBookmark, .removeBookmark, .putRecent,
            .removeRecent, .putOrigin, .putWaitingOrigin, .putGrant, .removeGrant:
            throw ByteReader.Malformed()
        }
    }

    private static func encode(_ id: BookmarkID, _ writer: inout ByteWriter) {
        writer.putFixed(id.high)
        writer.putFixed(id.low)
    }

    private static func decodeBookmarkID(_ reader: inout ByteReader) throws(ByteReader.Malformed)
        -> BookmarkID
    {
        BookmarkID(high: try reader.fixed(), low: try reader.fixed())
    }

    private static func encode(_ row: ItemRow, _ writer: inout ByteWriter) {
        writer.put(row.number.rawValue)
        writer.put(row.mode)
        writer.put(row.user)
        writer.put(row.group)
        writer.put(row.links)
        writer.put(row.device)
        writer.put(row.size)
        writer.put(row.blocks)
        writer.putFixed(row.modified.rawValue)
        writer.putFixed(row.changed.rawValue)
        writer.putFixed(row.accessed.rawValue)
        writer.put(row.document.rawValue)
        writer.put(row.ordinal)
        writer.put(row.nextOrdinal)
        writer.put(row.place.rawValue)
        encode(row.hash, &writer)
        writer.put(row.target != nil)
        if let target = row.target { writer.put(target) }
    }

    private static func decodeItem(_ reader: inout ByteReader) throws(ByteReader.Malformed)
        -> ItemRow
    {
        let number = ItemNumber(rawValue: try reader.unsigned())
        let mode = try reader.unsigned32()
        let user = try reader.unsigned32()
        let group = try reader.unsigned32()
        let links = try reader.unsigned32()
        let device = try reader.unsigned()
        let size = try reader.signed()
        let blocks = try reader.signed()
        let modified = Timestamp(rawValue: try reader.fixed())
        let changed = Timestamp(rawValue: try reader.fixed())
        let accessed = Timestamp(rawValue: try reader.fixed())
        let document = DocumentID(rawValue: try reader.unsigned())
        let ordinal = try reader.unsigned32()
        let nextOrdinal = try reader.unsigned32()
        let place = try decodePlace(&reader)
        let hash = try decodeHash(&reader)
        return ItemRow(
            number: number, mode: mode, user: user, group: group, links: links, device: device,
            size: size, blocks: blocks, modified: modified, changed: changed, accessed: accessed,
            document: document, ordinal: ordinal, nextOrdinal: nextOrdinal, place: place,
            hash: hash, target: try reader.bool() ? try reader.string() : nil)
    }

    private static func encode(_ row: VersionRow, _ writer: inout ByteWriter) {
        writer.put(row.document.rawValue)
        writer.put(row.item.rawValue)
        writer.put(row.ordinal)
        writer.put(row.size)
        writer.put(row.blocks)
        writer.putFixed(row.modified.rawValue)
        writer.putFixed(row.published.rawValue)
        writer.put(row.author)
        writer.put(row.place.rawValue)
        encode(row.hash, &writer)
    }

    private static func decodeVersion(_ reader: inout ByteReader) throws(ByteReader.Malformed)
        -> VersionRow
    {
        VersionRow(
            document: DocumentID(rawValue: try reader.unsigned()),
            item: ItemNumber(rawValue: try reader.unsigned()), ordinal: try reader.unsigned32(),
            size: try reader.signed(), blocks: try reader.signed(),
            modified: Timestamp(rawValue: try reader.fixed()),
            published: Timestamp(rawValue: try reader.fixed()), author: try reader.unsigned32(),
            place: try decodePlace(&reader), hash: try decodeHash(&reader))
    }

    private static func encode(_ row: SessionRow, _ writer: inout ByteWriter) {
        writer.put(row.item.rawValue)
        writer.put(row.ordinal)
        writer.put(row.author)
        writer.put(row.size)
        writer.putFixed(row.modified.rawValue)
        writer.putFixed(row.changed.rawValue)
        writer.put(row.wrote)
        writer.put(row.synced)
    }

    private static func decodeSession(_ reader: inout ByteReader) throws(ByteReader.Malformed)
        -> SessionRow
    {
        SessionRow(
            item: ItemNumber(rawValue: try reader.unsigned()), ordinal: try reader.unsigned32(),
            author: try reader.unsigned32(), size: try reader.signed(),
            modified: Timestamp(rawValue: try reader.fixed()),
            changed: Timestamp(rawValue: try reader.fixed()), wrote: try reader.bool(),
            synced: try reader.bool())
    }

    private static func encode(_ row: OriginRow, _ writer: inout ByteWriter) {
        writer.put(row.item.rawValue)
        writer.put(row.source.rawValue)
        writer.put(row.path)
        writer.put(row.identity)
        writer.put(row.tag)
        encode(row.content, &writer)
        guard let place = row.waitsAt else { return }
        writer.put(place.parent.rawValue)
        writer.put(place.name)
    }

    private static func decodeOrigin(_ reader: inout ByteReader) throws(ByteReader.Malformed)
        -> OriginRow
    {
        OriginRow(
            item: ItemNumber(rawValue: try reader.unsigned()),
            source: ItemNumber(rawValue: try reader.unsigned()), path: try reader.string(),
            identity: try reader.string(), tag: try reader.string(),
            content: try decodeHash(&reader))
    }

    private static func decodePlace(_ reader: inout ByteReader) throws(ByteReader.Malformed)
        -> ContentPlace
    {
        guard let place = ContentPlace(rawValue: try reader.byte()) else {
            throw ByteReader.Malformed()
        }
        return place
    }

    private static func encode(_ hash: ContentHash?, _ writer: inout ByteWriter) {
        writer.put(hash != nil)
        guard let hash else { return }
        for word in [hash.word0, hash.word1, hash.word2, hash.word3] { writer.putFixed(word) }
    }

    private static func decodeHash(_ reader: inout ByteReader) throws(ByteReader.Malformed)
        -> ContentHash?
    {
        guard try reader.bool() else { return nil }
        return ContentHash(
            word0: try reader.fixed(), word1: try reader.fixed(), word2: try reader.fixed(),
            word3: try reader.fixed())
    }
}
