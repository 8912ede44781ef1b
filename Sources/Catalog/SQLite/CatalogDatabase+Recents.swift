package import Model

/// Documents that were opened lately.
extension CatalogDatabase {
    /// When each of them was last opened.
    package func recents() throws(Failure) -> [DocumentID: Timestamp] {
        let select = try connection.statement("SELECT document, opened FROM recent")
        defer { select.reset() }
        var recents: [DocumentID: Timestamp] = [:]
        while try select.step() {
            recents[DocumentID(rawValue: select.unsigned(0))] = Timestamp(
                rawValue: select.unsigned(1))
        }
        return recents
    }

    /// Notes when the document was opened; `nil` forgets it.
    func put(_ document: DocumentID, opened: Timestamp?) throws(Failure) {
        let put = try connection.statement(
            opened == nil
                ? "DELETE FROM recent WHERE document = ?"
                : "INSERT OR REPLACE INTO recent VALUES (?, ?)")
        put.bind(1, document.rawValue)
        if let opened { put.bind(2, opened.rawValue) }
        try put.run()
    }
}
