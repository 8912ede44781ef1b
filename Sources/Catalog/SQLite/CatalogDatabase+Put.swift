internal import Model

/// Rows of the model into rows of the tables; the other way is in the extensions that read.
extension CatalogDatabase {
    func put(_ row: ItemRow) throws(Failure) {
        let put = try connection.statement(
            """
            INSERT OR REPLACE INTO item
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        put.bind(1, row.number.rawValue)
        put.bind(2, row.mode)
        put.bind(3, row.user)
        put.bind(4, row.group)
        put.bind(5, row.links)
        put.bind(6, row.device)
        put.bind(7, row.size)
        put.bind(8, row.blocks)
        put.bind(9, row.modified.rawValue)
        put.bind(10, row.changed.rawValue)
        put.bind(11, row.accessed.rawValue)
        put.bind(12, row.document.rawValue)
        put.bind(13, row.ordinal)
        put.bind(14, row.nextOrdinal)
        put.bind(15, Int64(row.place.rawValue))
        put.bind(16, row.hash)
        put.bind(17, row.target)
        try put.run()
    }

    func put(_ row: VersionRow) throws(Failure) {
        let put = try connection.statement(
            "INSERT OR REPLACE INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        put.bind(1, row.item.rawValue)
        put.bind(2, row.ordinal)
        put.bind(3, row.document.rawValue)
        put.bind(4, row.size)
        put.bind(5, row.blocks)
        put.bind(6, row.modified.rawValue)
        put.bind(7, row.published.rawValue)
        put.bind(8, row.author)
        put.bind(9, Int64(row.place.rawValue))
        put.bind(10, row.hash)
        try put.run()
    }

    func put(_ row: SessionRow) throws(Failure) {
        let put = try connection.statement(
            "INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        put.bind(1, row.item.rawValue)
        put.bind(2, row.ordinal)
        put.bind(3, row.author)
        put.bind(4, row.size)
        put.bind(5, row.modified.rawValue)
        put.bind(6, row.changed.rawValue)
        put.bind(7, Int64(row.wrote ? 1 : 0))
        put.bind(8, Int64(row.synced ? 1 : 0))
        try put.run()
    }

    /// Puts the attribute, or takes it away if `value` is `nil`.
    func put(_ item: ItemNumber, _ name: [UInt8], _ value: [UInt8]?) throws(Failure) {
        let put = try connection.statement(
            value == nil
                ? "DELETE FROM xattr WHERE item = ? AND name = ?"
                : "INSERT OR REPLACE INTO xattr VALUES (?, ?, ?)")
        put.bind(1, item.rawValue)
        put.bind(2, name)
        if let value { put.bind(3, value) }
        try put.run()
    }
}
