import Documents
import PathText

extension TaskList {
    /// What a path leads to, and the key there.
    private enum Place {
        case document
        case item(Int, String)
    }

    /// - Parameter parts: those of the list as it is.
    private func place(_ path: String, _ parts: ListParts) throws(EditError) -> Place {
        if let place = try find(path, parts) { return place }
        let names = fields.map(\.key) + items.indices.map { "item.\($0 + 1)" }
        let head = String(path.prefix { $0 != "." })
        throw EditError(.notFound, at: path, NearNames.unknown("path", head, among: names))
    }

    /// `nil` if the path leads nowhere.
    ///
    /// - Parameter parts: those of the list as it is.
    private func find(_ path: String, _ parts: ListParts) throws(EditError) -> Place? {
        let head = String(path.prefix { $0 != "." })
        if fields.contains(where: { $0.isCalled(head) }) { return .document }
        return try parts.index.split(path).map { .item($0.0, $0.1) }
    }

    func values(at paths: [String]) throws(EditError) -> [FieldValue] {
        let parts = ListParts(items)
        return try paths.map { (path) throws(EditError) in
            try located(path) { () throws(EditError) in
                switch try place(path, parts) {
                case .document: return try value(of: path)
                case .item(let index, let key): return try items[index].value(of: key)
                }
            }
        }
    }

    /// Sets the values at paths; nil takes one away. The paths mean what they mean before all of it: items
    /// that are completed or opened again go to the boundary between the two afterwards, as when they
    /// are checked.
    mutating func set(_ values: [(path: String, value: String?)]) throws(EditError) {
        let before = self
        let parts = ListParts(items)
        let wasComplete = items.map(\.isComplete)
        var turned: [Int] = []
        for (path, value) in values {
            try located(path) { () throws(EditError) in
                // Where nothing was called so before, something may be now.
                let former = try? before.find(path, parts)
                let place = if let former { former } else { try self.place(path, ListParts(items)) }
                switch place {
                case .document: try set(path, to: value)
                case .item(let index, let key):
                    try items[index].set(key, to: value)
                    turned.removeAll { $0 == index }
                    if items[index].isComplete != wasComplete[index] { turned.append(index) }
                }
            }
        }
        for index in turned { items[index].isComplete = wasComplete[index] }
        try toggle(turned)
    }

    var paths: [(path: String, value: FieldValue)] {
        listing.map { (path: $0.key, value: $0.value) }
            + items.enumerated().flatMap { number, item in
                item.listing.map { (path: "item.\(number + 1).\($0.key)", value: $0.value) }
            }
    }

    /// What it holds, one fact a line.
    var facts: [String] {
        let done = items.count - openCount
        return [
            "list of \(Count.words(items.count, "item")), \(done) done", "color: \(color.name)",
        ]
            + items.enumerated().map { number, item in
                "\(number + 1) [\(item.isComplete ? "x" : " ")] \(EscapedText.escaped(item.text))"
            }
    }

    /// What is wrong with it.
    var complaints: [String] {
        var complaints: [String] = []
        var seen: [ItemID: Int] = [:]
        for (number, item) in items.enumerated() {
            let path = "item.\(number + 1)"
            if item.text.isEmpty { complaints.append("\(path).text: empty") }
            if let first = seen[item.id] {
                complaints.append("\(path).uuid: the same as that of item.\(first)")
            }
            seen[item.id] = number + 1
        }
        if let first = items.firstIndex(where: \.isComplete), first < boundary {
            complaints.append("item.\(first + 1): done, but before items that are open")
        }
        return complaints
    }

    /// What is worth knowing about it though nothing is wrong.
    var remarks: [String] { losses.map { $0.words(for: "list") } + joinedItems }

    /// A sentence for each item whose lines become one where items are lines.
    var joinedItems: [String] {
        items.enumerated().filter { !TaskList.isOneLine($0.element.text) }.map {
            "item.\($0.offset + 1).text: of several lines, which are one in copies and other formats"
        }
    }

    /// What is different in another list. Of items that changed places with each other, those moved
    /// that were completed or opened, and the one that is known to have been.
    func changes(to other: TaskList, moved known: ItemID? = nil) -> [Change] {
        var changes = changes(to: other) { $0 }
        changes += UnknownKeys.changes(
            otherEntries.map(\.shown), other.otherEntries.map(\.shown)
        ) { $0 }
        let matching = PartMatching(
            items, other.items, after: PartMatching.countEqual(items, other.items),
            identity: { $0.id }, kind: { $0.id })
        for index in items.indices where matching.newOfOld[index] == nil {
            changes.append(
                Change(.part, "item.\(index + 1)", before: items[index].words, after: nil))
        }
        let row = matching.oldOfNew.enumerated().compactMap { new, old in
            old.map { (new: new, old: $0) }
        }
        var moved = PartMatching.moved(row)
        if !moved.isEmpty {
            let meant = row.filter { pair in
                let item = other.items[pair.new]
                return item.id == known || item.isComplete != items[pair.old].isComplete
            }.map(\.new)
            moved = PartMatching.moved(row.filter { !meant.contains($0.new) })
            moved.formUnion(meant.filter { matching.oldOfNew[$0] != $0 })
        }
        for (index, item) in other.items.enumerated() {
            // An edit leaves most items as they were, and a script compares all after each line.
            if let former = matching.oldOfNew[index], !moved.contains(index),
                items[former] == item
            {
                continue
            }
            let path = "item.\(index + 1)"
            guard let former = matching.oldOfNew[index] else {
                changes.append(Change(.part, path, before: nil, after: item.words))
                continue
            }
            changes += items[former].changes(to: item) { "\(path).\($0)" }
            if moved.contains(index) {
                changes.append(
                    Change(
                        .place, path, before: "place \(former + 1)", after: "place \(index + 1)"))
            }
            changes += UnknownKeys.changes(
                items[former].otherEntries.map(\.shown), item.otherEntries.map(\.shown)
            ) { "\(path).\($0)" }
        }
        return changes
    }
}

extension TaskItem {
    /// It in a few words.
    var words: String {
        "[\(isComplete ? "x" : " ")] \(EscapedText.escaped(String(text.prefix(60))))"
    }
}
