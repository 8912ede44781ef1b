package import Model

/// Which applications may use which documents of an open container. Guarded by its owner.
package struct Grants: Sendable {
    private var rows: [DocumentID: [String: GrantRow]] = [:]

    init(_ rows: [GrantRow]) {
        for row in rows { insert(row) }
    }

    /// A grant that is given at this moment. One that only gets other terms keeps its place among those
    /// of documents that are called alike.
    package func granting(
        _ document: DocumentID, to application: String, _ terms: GrantTerms, at now: Timestamp
    ) -> GrantRow {
        GrantRow(
            document: document, application: application, terms: terms,
            granted: live(document, application, at: now)?.granted ?? now)
    }

    /// Adds a grant, in place of the one that the application has for the document.
    package mutating func insert(_ row: GrantRow) {
        rows[row.document, default: [:]][row.application] = row
    }

    /// Takes a grant away; says whether there was one.
    package mutating func remove(_ document: DocumentID, _ application: String) -> Bool {
        guard rows[document]?.removeValue(forKey: application) != nil else { return false }
        if rows[document]?.isEmpty == true { rows[document] = nil }
        return true
    }

    /// All that hold at this moment, by document and application.
    package func live(at now: Timestamp) -> [GrantRow] {
        sorted(rows.values.flatMap(\.values).filter { $0.isLive(at: now) })
    }

    /// Those of an application that hold at this moment, the first granted first: what is granted later
    /// takes no name from a document that the application has already.
    package func live(for application: String, at now: Timestamp) -> [GrantRow] {
        rows.values.compactMap { $0[application] }.filter { $0.isLive(at: now) }.sorted {
            ($0.granted, $0.document.rawValue) < ($1.granted, $1.document.rawValue)
        }
    }

    /// Those of a document that hold at this moment, by application.
    package func live(of document: DocumentID, at now: Timestamp) -> [GrantRow] {
        sorted((rows[document] ?? [:]).values.filter { $0.isLive(at: now) })
    }

    /// What the application may do with the document at this moment; `nil`: nothing.
    package func terms(
        of document: DocumentID, for application: some StringProtocol, at now: Timestamp
    ) -> GrantTerms? {
        live(document, String(application), at: now)?.terms
    }

    private func live(_ document: DocumentID, _ application: String, at now: Timestamp) -> GrantRow?
    {
        guard let row = rows[document]?[application], row.isLive(at: now) else { return nil }
        return row
    }

    /// Takes all grants of a document away that is gone for good: what records it.
    package mutating func dropAll(of document: DocumentID) -> [Effect] {
        (rows.removeValue(forKey: document) ?? [:]).keys.sorted().map {
            .removeGrant(document, application: $0)
        }
    }

    /// Takes those away that hold no more: what records it.
    package mutating func dropExpired(at now: Timestamp) -> [Effect] {
        let expired = rows.values.flatMap(\.values).filter { !$0.isLive(at: now) }
        return sorted(expired).map { row in
            _ = remove(row.document, row.application)
            return .removeGrant(row.document, application: row.application)
        }
    }

    private func sorted(_ rows: [GrantRow]) -> [GrantRow] {
        rows.sorted {
            ($0.document.rawValue, $0.application) < ($1.document.rawValue, $1.application)
        }
    }
}
