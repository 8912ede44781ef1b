internal import Catalog
internal import Model
internal import Pictures

/// A version whose picture is wanted, and what a picture's file tells of the document.
struct PictureSubject: Sendable {
    var item: ItemNumber
    var document: DocumentID
    var node: NodeNumber
    var type: PictureType
    /// Empty for a document that has lost its name: nothing is drawn of it any more.
    var fileName: [UInt8]
    var size: Int64
    var mode: UInt32
    var user: UInt32
    var group: UInt32
    var modified: Timestamp
    /// Where its content is, if that is not here.
    var away: ContentPlace?
    /// Its content is not here.
    var isPromise: Bool { away != nil }

    /// - Parameter staged: what is to be drawn if it is not published yet.
    func order(staged: ContentStamp?) -> PictureOrder {
        PictureOrder(
            item: item, node: node, type: type,
            fileName: String(decoding: fileName, as: UTF8.self), staged: staged)
    }
}

extension VolumeState {
    /// The current version of a document; nil for what is no regular file or has no name.
    func pictureSubject(_ position: MemoryIndex.Position) -> PictureSubject? {
        guard position != 0 else { return nil }
        let name = index[item: position].pointee.firstName
        return name == 0 ? nil : pictureSubject(position, named: Array(index.nameBytes(name)))
    }

    /// The same by any name that the document has, or had a moment ago.
    func pictureSubject(_ position: MemoryIndex.Position, named name: [UInt8]) -> PictureSubject? {
        subject(position, PictureType(fileName: name), name)
    }

    private func subject(
        _ position: MemoryIndex.Position, _ type: PictureType, _ fileName: [UInt8]
    ) -> PictureSubject? {
        guard position != 0 else { return nil }
        let record = index[item: position].pointee
        guard record.isRegular else { return nil }
        return PictureSubject(
            item: ItemNumber(rawValue: record.number),
            document: DocumentID(rawValue: record.document), node: record.node, type: type,
            fileName: record.firstName == 0 ? [] : fileName, size: record.size,
            mode: record.mode, user: record.user, group: record.group,
            modified: Timestamp(rawValue: record.modified),
            away: away(record.place, record.node))
    }

    private func namelessSubject(_ position: MemoryIndex.Position, _ item: ItemNumber)
        -> PictureSubject?
    {
        lastTypes[item].flatMap { subject(position, $0, []) }
    }

    private func away(_ place: ContentPlace, _ node: NodeNumber) -> ContentPlace? {
        isAway(node, place) ? place : nil
    }

    /// The version of a document that a node shows: for a session's the one before it. Also of one
    /// that has lost its name: who asks by path may have found the node just before.
    func pictureSubject(of node: NodeNumber) -> PictureSubject? {
        let position = index.find(node.item)
        guard var subject = pictureSubject(position) ?? namelessSubject(position, node.item) else {
            return nil
        }
        if node != subject.node, let old = oldNode(node) {
            subject.node = old.content.node
            subject.size = old.content.size
            subject.away = away(old.content.place, node)
            subject.modified = Timestamp(rawValue: old.modified)
        }
        return subject
    }
}
