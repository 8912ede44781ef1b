package import Model

/// Published versions and write sessions that have acknowledged something.
extension CatalogDatabase {
    /// All sessions, by item and ordinal.
    package func sessions() throws(Failure) -> [SessionRow] {
        let select = try connection.statement("SELECT * FROM session ORDER BY item, ordinal")
        defer { select.reset() }
        var rows: [SessionRow] = []
        while try select.step() {
            rows.append(
                SessionRow(
                    item: ItemNumber(rawValue: select.unsigned(0)), ordinal: select.unsigned32(1),
                    author: select.unsigned32(2), size: select.integer(3),
                    modified: Timestamp(rawValue: select.unsigned(4)),
                    changed: Timestamp(rawValue: select.unsigned(5)),
                    wrote: select.integer(6) != 0, synced: select.integer(7) != 0))
        }
        return rows
    }

    /// The versions whose content is not sealed yet, by item and ordinal.
    package func stagedVersions() throws(Failure) -> [VersionRow] {
        let select = try connection.statement(
            "SELECT * FROM version WHERE place IN (1, 3) ORDER BY item, ordinal")
        defer { select.reset() }
        return try rows(select)
    }

    /// The versions of a document in the order of their publish. The last is the current one,
    /// unless the clock was set back or a file that is older than the document was renamed over
    /// it: who must be sure compares with the item's ordinal.
    package func versions(of document: DocumentID) throws(Failure) -> [VersionRow] {
        // Moments after the year 2174 are negative in the table and later than all others.
        let select = try connection.statement(
            """
            SELECT * FROM version WHERE document = ?
            ORDER BY published < 0, published, item, ordinal
            """)
        defer { select.reset() }
        select.bind(1, document.rawValue)
        return try rows(select)
    }

    /// When the last version was published, of all; the first moment if there is none. Looks at all versions.
    package func lastPublished() throws(Failure) -> Timestamp {
        // See ``versions(of:)``.
        let last = try connection.integer(
            "SELECT published FROM version ORDER BY published < 0 DESC, published DESC LIMIT 1")
        return Timestamp(rawValue: UInt64(bitPattern: last))
    }

    /// The versions of a document, and those that `item` wrote as another one, by item and ordinal.
    package func versions(
        of document: DocumentID, andOf item: ItemNumber
    ) throws(Failure) -> [VersionRow] {
        let select = try connection.statement(
            """
            SELECT * FROM version WHERE document = ?1 UNION SELECT * FROM version WHERE item = ?2
            ORDER BY item, ordinal
            """)
        defer { select.reset() }
        select.bind(1, document.rawValue)
        select.bind(2, item.rawValue)
        return try rows(select)
    }

    /// The items that wrote versions of a document, in no order; they may be gone.
    package func writers(of document: DocumentID) throws(Failure) -> [ItemNumber] {
        let select = try connection.statement(
            "SELECT DISTINCT item FROM version WHERE document = ?")
        defer { select.reset() }
        select.bind(1, document.rawValue)
        var items: [ItemNumber] = []
        while try select.step() { items.append(ItemNumber(rawValue: select.unsigned(0))) }
        return items
    }

    /// The documents with versions that the items which they began with are not any more. Looks at all
    /// documents.
    package func documentsThatMoved() throws(Failure) -> Set<DocumentID> {
        let select = try connection.statement(
            """
            SELECT DISTINCT document FROM version WHERE NOT EXISTS
                (SELECT 1 FROM item WHERE id = version.document AND document = version.document)
            """)
        defer { select.reset() }
        var documents: Set<DocumentID> = []
        while try select.step() { documents.insert(DocumentID(rawValue: select.unsigned(0))) }
        return documents
    }

    /// The versions that stay whatever their age, by item and ordinal.
    package func pinnedVersions() throws(Failure) -> [NodeNumber] {
        let select = try connection.statement(
            "SELECT item, ordinal FROM version_pin ORDER BY item, ordinal")
        defer { select.reset() }
        var nodes: [NodeNumber] = []
        while try select.step() {
            nodes.append(
                NodeNumber(ItemNumber(rawValue: select.unsigned(0)), select.unsigned32(1)))
        }
        return nodes
    }

    /// The versions of conflicts and their documents.
    package func conflictVersions() throws(Failure) -> [NodeNumber: DocumentID] {
        let select = try connection.statement(
            """
            SELECT item, ordinal, document FROM version_conflict JOIN version USING (item, ordinal)
            """)
        defer { select.reset() }
        var conflicts: [NodeNumber: DocumentID] = [:]
        while try select.step() {
            let node = NodeNumber(ItemNumber(rawValue: select.unsigned(0)), select.unsigned32(1))
            conflicts[node] = DocumentID(rawValue: select.unsigned(2))
        }
        return conflicts
    }

    /// A document's versions that count as saves of their own, however soon they were replaced.
    package func versionsKeptApart(of document: DocumentID) throws(Failure) -> Set<NodeNumber> {
        let select = try connection.statement(
            """
            SELECT item, ordinal FROM version JOIN version_apart USING (item, ordinal)
            WHERE document = ?
            """)
        defer { select.reset() }
        select.bind(1, document.rawValue)
        var nodes: Set<NodeNumber> = []
        while try select.step() {
            nodes.insert(
                NodeNumber(ItemNumber(rawValue: select.unsigned(0)), select.unsigned32(1)))
        }
        return nodes
    }

    /// The version that `item`'s session `ordinal` published; `nil` if there is none (any more).
    package func version(
        _ item: ItemNumber, _ ordinal: Ordinal
    ) throws(Failure) -> VersionRow? {
        let select = try connection.statement(
            "SELECT * FROM version WHERE item = ? AND ordinal = ?")
        defer { select.reset() }
        select.bind(1, item.rawValue)
        select.bind(2, ordinal)
        return try select.step() ? try row(select) : nil
    }

    /// Shows every document that has more than one version.
    package func documentsWithEarlierVersions(
        _ body: (DocumentID) -> Void
    ) throws(Failure) {
        let select = try connection.statement(
            "SELECT document FROM version GROUP BY document HAVING count(*) > 1")
        defer { select.reset() }
        while try select.step() { body(DocumentID(rawValue: select.unsigned(0))) }
    }

    /// Whether a version or an item has this content, so that its blob must stay.
    package func isReferenced(_ hash: ContentHash) throws(Failure) -> Bool {
        let select = try connection.statement(
            """
            SELECT EXISTS (SELECT 1 FROM version WHERE hash = ?1)
                OR EXISTS (SELECT 1 FROM item WHERE hash = ?1)
            """)
        defer { select.reset() }
        select.bind(1, hash)
        return try select.step() && select.integer(0) != 0
    }

    /// Whether a version counts on the blob of this content in the container's folder.
    package func isBlobNeeded(_ hash: ContentHash) throws(Failure) -> Bool {
        let select = try connection.statement(
            "SELECT EXISTS (SELECT 1 FROM version WHERE hash = ? AND place IN (2, 4))")
        defer { select.reset() }
        select.bind(1, hash)
        return try select.step() && select.integer(0) != 0
    }

    /// The versions that count on the blob of this content in the container's folder.
    package func versionsCounting(on hash: ContentHash) throws(Failure) -> [NodeNumber] {
        let select = try connection.statement(
            "SELECT item, ordinal FROM version WHERE hash = ? AND place IN (2, 4)")
        defer { select.reset() }
        select.bind(1, hash)
        var nodes: [NodeNumber] = []
        while try select.step() {
            nodes.append(
                NodeNumber(ItemNumber(rawValue: select.unsigned(0)), select.unsigned32(1)))
        }
        return nodes
    }

    /// The contents of versions that are here and in the store, whose hashes come after `hash`, in their order;
    /// from the first on if it is `nil`.
    package func storedContents(after hash: ContentHash?, limit: Int) throws(Failure)
        -> [(hash: ContentHash, size: Int64)]
    {
        let select = try connection.statement(
            """
            SELECT hash, max(size) FROM version WHERE hash > ? AND place = 4
            GROUP BY hash ORDER BY hash LIMIT ?
            """)
        defer { select.reset() }
        // Before all hashes, and not nothing, which would be NULL.
        select.bind(1, hash.map(\.bytes) ?? [0])
        select.bind(2, Int64(limit))
        var contents: [(hash: ContentHash, size: Int64)] = []
        while try select.step() {
            guard let hash = try select.hash(0) else { continue }
            contents.append((hash, select.integer(1)))
        }
        return contents
    }

    /// The hashes of all versions that are promised and of which no version is a blob here.
    package func promisedHashes() throws(Failure) -> [ContentHash] {
        let select = try connection.statement(
            """
            SELECT DISTINCT hash FROM version AS promise WHERE place = 5 AND NOT EXISTS
                (SELECT 1 FROM version WHERE hash = promise.hash AND place IN (2, 4))
            """)
        defer { select.reset() }
        var hashes: [ContentHash] = []
        while try select.step() {
            if let hash = try select.hash(0) { hashes.append(hash) }
        }
        return hashes
    }

    /// Shows every version once, by item and ordinal.
    package func forEachVersion(_ body: (VersionRow) -> Void) throws(Failure) {
        let select = try connection.statement("SELECT * FROM version ORDER BY item, ordinal")
        defer { select.reset() }
        while try select.step() { body(try row(select)) }
    }

    /// Removes versions, and sessions that were to become some, whose numbers no node can have; how many of
    /// each there were. Only to repair a catalog.
    package func removeImpossibleVersions() throws(Failure) -> (versions: Int64, sessions: Int64) {
        try (removeImpossible(in: "version"), removeImpossible(in: "session"))
    }

    private func removeImpossible(in table: String) throws(Failure) -> Int64 {
        let clause = """
            \(table) WHERE ordinal NOT BETWEEN 0 AND \(NodeNumber.largestOrdinal)
            OR item NOT BETWEEN 1 AND \(NodeNumber.largestItem)
            """
        let count = try connection.integer("SELECT count(*) FROM \(clause)")
        // What is sound is not written to.
        if count > 0 {
            try connection.transaction { () throws(Failure) in
                try connection.execute("DELETE FROM \(clause)")
            }
        }
        return count
    }

    func rows(_ select: Statement) throws(Failure) -> [VersionRow] {
        var rows: [VersionRow] = []
        while try select.step() { rows.append(try row(select)) }
        return rows
    }

    private func row(_ select: Statement) throws(Failure) -> VersionRow {
        VersionRow(
            document: DocumentID(rawValue: select.unsigned(2)),
            item: ItemNumber(rawValue: select.unsigned(0)), ordinal: select.unsigned32(1),
            size: select.integer(3), blocks: select.integer(4),
            modified: Timestamp(rawValue: select.unsigned(5)),
            published: Timestamp(rawValue: select.unsigned(6)), author: select.unsigned32(7),
            place: try select.place(8), hash: try select.hash(9))
    }
}
