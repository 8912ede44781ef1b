package import Model

/// Ways back to documents.
extension CatalogDatabase {
    /// All bookmarks, by id.
    package func bookmarks() throws(Failure) -> [BookmarkRow] {
        let select = try connection.statement("SELECT * FROM bookmark ORDER BY high, low")
        defer { select.reset() }
        var rows: [BookmarkRow] = []
        while try select.step() {
            rows.append(
                BookmarkRow(
                    id: BookmarkID(high: select.unsigned(0), low: select.unsigned(1)),
                    document: DocumentID(rawValue: select.unsigned(2)),
                    application: select.text(3) ?? "",
                    created: Timestamp(rawValue: select.unsigned(4))))
        }
        return rows
    }

    func put(_ row: BookmarkRow) throws(Failure) {
        let put = try connection.statement("INSERT OR REPLACE INTO bookmark VALUES (?, ?, ?, ?, ?)")
        put.bind(1, row.id.high)
        put.bind(2, row.id.low)
        put.bind(3, row.document.rawValue)
        put.bind(4, row.application)
        put.bind(5, row.created.rawValue)
        try put.run()
    }

    func removeBookmark(_ id: BookmarkID) throws(Failure) {
        let delete = try connection.statement("DELETE FROM bookmark WHERE high = ? AND low = ?")
        delete.bind(1, id.high)
        delete.bind(2, id.low)
        try delete.run()
    }
}
