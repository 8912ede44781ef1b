internal import Catalog
internal import Coordination
internal import Model
internal import Pictures
internal import SystemCalls
internal import Thumbnailing

/// A version of a document that has words.
struct TextSubject {
    var document: DocumentID
    var node: NodeNumber
    /// What it is read as.
    var type: DrawnType
    /// Its content is not here.
    var isPromise: Bool
}

extension VolumeState {
    /// The current version of an item, if it has words.
    func textSubject(_ item: ItemNumber) -> TextSubject? {
        let position = index.find(item)
        guard position != 0 else { return nil }
        let record = index[item: position].pointee
        guard record.isRegular, record.firstName != 0, record.size > 0,
            record.node.ordinal > 0
        else { return nil }
        let name = index.nameBytes(record.firstName)
        guard let type = TextType.of(name), !isTemporaryName(Array(name)) else { return nil }
        return TextSubject(
            document: DocumentID(rawValue: record.document), node: record.node, type: type,
            isPromise: record.place.isAway && !arrived.contains(record.node))
    }

    /// Has the words of an item looked at if a change may have changed them.
    @inline(__always)
    func followTexts(_ kind: ChangeKind, _ position: MemoryIndex.Position) {
        guard let texts else { return }
        switch kind {
        case .published, .materialized, .repaired:
            let first = index[item: position].pointee.firstName
            if first != 0, TextType.of(index.nameBytes(first)) != nil {
                texts.note(number(position))
            }
        case .renamed, .linked, .removed:
            // The name that tells the type may be another now.
            if index[item: position].pointee.isRegular { texts.note(number(position)) }
        default: break
        }
    }
}
