import Model

/// Grants as bytes of the journal.
extension MutationCoding {
    static func encode(_ row: GrantRow, _ writer: inout ByteWriter) {
        writer.put(row.document.rawValue)
        writer.put(Array(row.application.utf8))
        writer.put(row.terms.access.rawValue)
        writer.putFixed(row.granted.rawValue)
        writer.put(row.terms.until != nil)
        if let until = row.terms.until { writer.putFixed(until.rawValue) }
    }

    static func decodeGrant(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> GrantRow {
        let document = DocumentID(rawValue: try reader.unsigned())
        let application = String(decoding: try reader.string(), as: UTF8.self)
        guard let access = GrantedAccess(rawValue: try reader.byte()) else {
            throw ByteReader.Malformed()
        }
        let granted = Timestamp(rawValue: try reader.fixed())
        let until = try reader.bool() ? Timestamp(rawValue: try reader.fixed()) : nil
        return GrantRow(
            document: document, application: application,
            terms: GrantTerms(access: access, until: until), granted: granted)
    }
}
