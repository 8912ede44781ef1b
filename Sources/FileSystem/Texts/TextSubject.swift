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
            isPromise: isAway(record.node, record.place))
    }

    /// Which document an item is; nil if it is gone, or has no name any more.
    func namedDocument(_ item: ItemNumber) -> DocumentID? {
        let position = index.find(item)
        guard position != 0 else { return nil }
        let record = index[item: position].pointee
        return record.firstName == 0 ? nil : DocumentID(rawValue: record.document)
    }

    /// Has the words of an item looked at if a change may have changed them.
    @inline(__always)
    func followTexts(
        _ kind: ChangeKind, _ position: MemoryIndex.Position, _ effects: [Effect] = []
    ) {
        guard let texts else { return }
        switch kind {
        case .published, .materialized, .repaired:
            if hasWords(position) { texts.note(number(position)) }
        case .renamed, .linked, .removed:
            // The name that tells the type may be another now.
            if hasWords(position) || Self.haveWords(effects) { texts.note(number(position)) }
        default: break
        }
    }

    private func hasWords(_ position: MemoryIndex.Position) -> Bool {
        let record = index[item: position].pointee
        return record.isRegular && record.firstName != 0
            && TextType.of(index.nameBytes(record.firstName)) != nil
    }

    /// Whether one of the names that come or go is of a document that has words.
    private static func haveWords(_ effects: [Effect]) -> Bool {
        effects.contains { effect in
            switch effect {
            case .removeName(_, let name), .putName(_, let name, _, _): TextType.of(name) != nil
            default: false
            }
        }
    }
}
