package import Model

/// Documents that applications may use.
extension CatalogDatabase {
    /// All grants, live or not, by document and application.
    package func grants() throws(Failure) -> [GrantRow] {
        let select = try connection.statement(
            "SELECT * FROM document_grant ORDER BY document, application")
        defer { select.reset() }
        var rows: [GrantRow] = []
        while try select.step() {
            let document = DocumentID(rawValue: select.unsigned(0))
            guard let access = GrantedAccess(rawValue: UInt8(truncatingIfNeeded: select.integer(2)))
            else {
                throw Failure(.badData, "\(path): the grants of document \(document) are damaged")
            }
            let until = select.isNull(4) ? nil : Timestamp(rawValue: select.unsigned(4))
            rows.append(
                GrantRow(
                    document: document, application: select.text(1) ?? "",
                    terms: GrantTerms(access: access, until: until),
                    granted: Timestamp(rawValue: select.unsigned(3))))
        }
        return rows
    }

    func put(_ row: GrantRow) throws(Failure) {
        let put = try connection.statement(
            "INSERT OR REPLACE INTO document_grant VALUES (?, ?, ?, ?, ?)")
        put.bind(1, row.document.rawValue)
        put.bind(2, row.application)
        put.bind(3, Int64(row.terms.access.rawValue))
        put.bind(4, row.granted.rawValue)
        if let until = row.terms.until { put.bind(5, until.rawValue) } else { put.bindNull(5) }
        try put.run()
    }

    func removeGrant(_ document: DocumentID, _ application: String) throws(Failure) {
        let delete = try connection.statement(
            "DELETE FROM document_grant WHERE document = ? AND application = ?")
        delete.bind(1, document.rawValue)
        delete.bind(2, application)
        try delete.run()
    }
}
