package import Model
internal import PathText

/// A query with its results, which follow items as they change. A value without I/O.
package struct LiveQuery {
    package let query: Query
    private let selection: Selection
    private let gate: QueryGate
    /// What paths begin with; with a slash behind it unless it is empty.
    private let folder: String
    /// Its bytes: what is hidden counts only below the folder, which may be in a hidden one.
    private let folderLength: Int
    private let tag: String?
    /// What is known of texts; tags are looked at in the items.
    package var knowledge: Knowledge
    package private(set) var results: LiveResults

    package init(_ query: Query, _ knowledge: Knowledge, _ found: [Found]) {
        self.query = query
        self.knowledge = knowledge
        selection = Selection(query)
        let names = query.folder.split(separator: "/")
        folder = names.isEmpty ? "" : names.joined(separator: "/") + "/"
        let bytes = folder.pathBytes
        folderLength = bytes.count
        gate = QueryGate(query, folder: bytes)
        tag = query.tag?.lowercased()
        results = LiveResults(query, found)
    }

    /// What the query finds of items; nothing of those that it does not find and surely did not before.
    ///
    /// Changes nothing. It is mutating so that a query is asked in its place: of one in a class all fields are
    /// copied before a call that is not, which took more than to ask a thousand of them.
    package mutating func changes(_ views: [ItemView]) -> [(item: ItemNumber, results: [Found])] {
        var changes: [(item: ItemNumber, results: [Found])] = []
        // By their indices: no view is copied for the many queries that do not look for it.
        for index in views.indices {
            let isAdmitted = gate.admits(views[index].traits)
            let mayBeKnown = results.mayHave(views[index].item)
            if !isAdmitted && !mayBeKnown { continue }
            let found = isAdmitted ? results(of: views[index]) : []
            if found.isEmpty && !mayBeKnown { continue }
            changes.append((views[index].item, found))
        }
        return changes
    }

    private func results(of view: ItemView) -> [Found] {
        var found: [Found] = []
        for place in view.places {
            let isAccepted = place.name.withUnsafeBytes { selection.accepts($0, view.facts) }
            let isHidden = place.lastHidden.map { $0 >= folderLength } ?? false
            guard isAccepted, query.hidden || !isHidden, isBelow(place.found.path),
                tag.map({ tag in view.tags.map { ItemTags.contains($0, tag) } ?? false }) ?? true,
                knowledge.documents?.contains(view.document) ?? true
            else { continue }
            found.append(titled(place.found))
        }
        return found
    }

    private func isBelow(_ path: String) -> Bool {
        folder.isEmpty || path.utf8.starts(with: folder.utf8)
    }

    private func titled(_ found: Found) -> Found {
        guard let title = knowledge.title(of: found.document) else { return found }
        return Found(
            item: found.item, document: found.document, path: found.path,
            isFolder: found.isFolder, size: found.size, modified: found.modified,
            isPromise: found.isPromise, title: title)
    }

    /// Gives items other results, as ``changes(_:)`` told them; how what is shown has become another.
    package mutating func update(_ items: [(item: ItemNumber, results: [Found])]) -> QueryBatch {
        let difference = results.update(items)
        return QueryBatch(
            difference: difference, added: difference.added.map { results[$0] },
            updated: difference.updated.map { results[$0] })
    }
}

/// How the results of a query have become others.
package struct QueryBatch: Sendable {
    package let difference: ListDifference
    /// What is at the indices of the difference's `added`.
    package let added: [Found]
    /// What is at the indices of the difference's `updated`.
    package let updated: [Found]

    package init(difference: ListDifference, added: [Found], updated: [Found]) {
        self.difference = difference
        self.added = added
        self.updated = updated
    }
}
