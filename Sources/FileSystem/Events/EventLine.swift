internal import Catalog
internal import Model
internal import PathText

/// Lines of `.shapeedit/events`: a JSON object each. What they hold is on the Presentation page.
enum EventLine {
    /// A change; `nil` if nobody outside can see it.
    static func change(_ row: ChangeRow, _ place: EventPlace) -> String? {
        guard let kind = name(of: row.kind) else { return nil }
        var fields: [(String, String)] = [
            ("sequence", String(row.sequence)), ("time", PathText.quoted(row.time.exactText)),
            ("kind", PathText.quoted(kind)), ("item", String(row.item.rawValue)),
        ]
        if let document = place.document {
            fields.append(("document", PathText.quoted(document.description)))
        }
        if let path = place.path { fields += PathText.members("path", path) }
        if let former = place.former { fields += PathText.members("from", former) }
        fields.append(("process", String(row.process)))
        return line(fields)
    }

    /// Changes that are not known any more.
    static func lost(_ range: ClosedRange<ChangeSequence>) -> String {
        line([
            ("sequence", String(range.upperBound)), ("kind", PathText.quoted("lost")),
            ("first", String(range.lowerBound)), ("last", String(range.upperBound)),
        ])
    }

    /// How far a content is that comes from the store.
    ///
    /// - Parameters:
    ///   - size: of all of it, in bytes.
    ///   - received: bytes that have come; `nil`: it does not come any more, and is not here.
    static func progress(_ place: EventPlace, item: ItemNumber, size: Int64, received: Int64?)
        -> String
    {
        var fields: [(String, String)] = [
            ("time", PathText.quoted(VolumeState.now().exactText)),
            ("kind", PathText.quoted("progress")),
            ("item", String(item.rawValue)),
        ]
        if let document = place.document {
            fields.append(("document", PathText.quoted(document.description)))
        }
        if let path = place.path { fields += PathText.members("path", path) }
        fields += [
            ("state", PathText.quoted(received == nil ? "promise" : "downloading")),
            ("bytes", String(size)), ("doneBytes", String(received ?? 0)),
            // All of it is here when it has been verified, which a change tells.
            ("percent", String(min((received ?? 0) * 100 / size, 99))),
        ]
        return line(fields)
    }

    private static func line(_ fields: [(String, String)]) -> String {
        PathText.object(fields) + "\n"
    }

    private static func name(of kind: ChangeKind) -> String? {
        switch kind {
        case .created: "created"
        case .removed: "removed"
        case .renamed: "renamed"
        case .linked: "linked"
        case .attributes: "attributes"
        case .extendedAttributes: "extendedAttributes"
        case .published: "published"
        case .pruned: "pruned"
        case .repaired: "repaired"
        case .uploaded: "uploaded"
        case .evicted: "evicted"
        case .materialized: "materialized"
        case .versionPinned: "versionPinned"
        case .conflicted: "conflict"
        case .staged, .sealed, .purged, .discarded, .accessed, .bookmarked, .opened, .imported,
            .granted, .keptApart:
            nil
        }
    }
}

/// Where something happened; paths as `PathText` makes them.
struct EventPlace {
    var document: DocumentID?
    var path: String?
    /// Of a rename: the path before.
    var former: String?
}
