internal import Catalog
internal import Model
internal import PathText

/// Numbers of items, documents and versions. One that cannot be given out would be taken for another,
/// and everything counts on them: so this comes before recovery.
extension ContainerCheck {
    mutating func checkNumbers() throws(Failure) {
        var highest = ItemNumber.root.rawValue
        var impossible: [ItemNumber] = []
        var wrong: [ItemRow] = []
        try database.loadItems { row in
            guard NodeNumber.isItem(row.number.rawValue) else {
                impossible.append(row.number)
                return
            }
            highest = max(highest, row.number.rawValue)
            let isDocument = NodeNumber.isItem(row.document.rawValue)
            if isDocument { highest = max(highest, row.document.rawValue) }
            if !isDocument || row.ordinal > NodeNumber.largestOrdinal { wrong.append(row) }
        }
        let items = Set(wrong.map(\.number))
        let removed = try database.removeImpossibleVersions()
        for (count, what) in [(removed.versions, "version"), (removed.sessions, "unfinished save")]
        where count > 0 {
            find("\(Count.words(count, what)) had numbers that cannot be", repaired: true)
        }
        var last: [ItemNumber: VersionRow] = [:]
        if !items.isEmpty {
            // They come in order.
            try database.forEachVersion { version in
                if items.contains(version.item) { last[version.item] = version }
            }
        }
        if database.highestNumber > NodeNumber.largestItem {
            find("numbers were to be given out that cannot be", repaired: true)
            // Versions outlive their items.
            try database.forEachVersion { version in
                highest = max(highest, version.item.rawValue)
                if NodeNumber.isItem(version.document.rawValue) {
                    highest = max(highest, version.document.rawValue)
                }
            }
            try database.resetHighestNumber(highest)
        }
        var effects: [Effect] = []
        for item in impossible {
            find("\(item.rawValue) cannot be the number of an item", repaired: true)
            effects.append(.removeItem(item))
        }
        for row in wrong {
            find(
                "item \(row.number.rawValue) had the document \(row.document.rawValue), version "
                    + "\(row.ordinal), which cannot be", repaired: true)
            effects.append(.putItem(Self.corrected(row, last[row.number])))
        }
        if effects.isEmpty { return }
        try database.applyAll([
            Mutation(
                sequence: database.appliedSequence + 1, time: now, kind: .repaired, item: .root,
                effects: effects)
        ])
    }

    /// The row as the item's last version has it, if there is one.
    private static func corrected(_ row: ItemRow, _ version: VersionRow?) -> ItemRow {
        var right = row
        if !NodeNumber.isItem(row.document.rawValue) {
            let document = version?.document.rawValue ?? 0
            right.document = DocumentID(
                rawValue: NodeNumber.isItem(document) ? document : row.number.rawValue)
        }
        if row.ordinal > NodeNumber.largestOrdinal {
            right.ordinal = version?.ordinal ?? 0
            right.size = version?.size ?? 0
            right.blocks = version?.blocks ?? 0
            right.place = version?.place ?? .none
            right.hash = version?.hash
        }
        return right
    }
}
