internal import Catalog
internal import Model
internal import Pictures

/// A version whose picture is wanted, and what a picture's file tells of the document.
struct PictureSubject: Sendable {
    var item: ItemNumber
    var node: NodeNumber
    var type: PictureType
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
        let record = index[item: position].pointee
        guard record.isRegular, record.firstName != 0 else { return nil }
        let name = Array(index.nameBytes(record.firstName))
        return PictureSubject(
            item: ItemNumber(rawValue: record.number), node: record.node,
            type: PictureType(fileName: name), fileName: name, size: record.size,
            mode: record.mode, user: record.user, group: record.group,
            modified: Timestamp(rawValue: record.modified),
            away: away(record.place, record.node))
    }

    private func away(_ place: ContentPlace, _ node: NodeNumber) -> ContentPlace? {
        isAway(node, place) ? place : nil
    }

    /// The version of a document that a node shows: for a session's the one before it.
    func pictureSubject(of node: NodeNumber) -> PictureSubject? {
        let position = index.find(node.item)
        guard var subject = pictureSubject(position) else { return nil }
        if node != subject.node, let old = oldNode(node) {
            subject.node = old.content.node
            subject.size = old.content.size
            subject.away = away(old.content.place, node)
            subject.modified = Timestamp(rawValue: old.modified)
        }
        return subject
    }
}
