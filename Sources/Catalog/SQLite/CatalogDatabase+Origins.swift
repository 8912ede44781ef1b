package import Model

/// Trees that were imported, and which item is which object of them.
extension CatalogDatabase {
    /// The address of the tree that was imported to a folder; `nil` if none was.
    package func source(_ root: ItemNumber) throws(Failure) -> String? {
        let select = try connection.statement("SELECT address FROM source WHERE root = ?")
        defer { select.reset() }
        select.bind(1, root.rawValue)
        return try select.step() ? select.text(0) : nil
    }

    /// Where an item comes from.
    package func origin(_ item: ItemNumber) throws(Failure) -> OriginRow? {
        let select = try connection.statement("SELECT * FROM origin WHERE item = ?")
        defer { select.reset() }
        select.bind(1, item.rawValue)
        return try select.step() ? try origin(select) : nil
    }

    /// The object with this path: one that the source shows before what stayed here of those that went,
    /// and the last of several.
    package func origin(_ source: ItemNumber, path: [UInt8]) throws(Failure) -> OriginRow? {
        let select = try connection.statement(
            """
            SELECT * FROM origin WHERE source = ? AND path = ?
            ORDER BY identity = x'00', item DESC
            """)
        defer { select.reset() }
        select.bind(1, source.rawValue)
        select.bind(2, path)
        return try select.step() ? try origin(select) : nil
    }

    /// The object that the source knows by this.
    package func origin(_ source: ItemNumber, identity: [UInt8]) throws(Failure) -> OriginRow? {
        let select = try connection.statement(
            """
            SELECT * FROM origin WHERE source = ? AND identity = ? AND identity <> x''
            ORDER BY item DESC
            """)
        defer { select.reset() }
        select.bind(1, source.rawValue)
        select.bind(2, identity)
        return try select.step() ? try origin(select) : nil
    }

    /// Where all that is in a folder comes from.
    package func origins(in folder: ItemNumber) throws(Failure) -> [OriginRow] {
        let select = try connection.statement(
            "SELECT origin.* FROM name JOIN origin ON origin.item = name.item WHERE parent = ?")
        defer { select.reset() }
        select.bind(1, folder.rawValue)
        return try origins(select)
    }

    /// The objects whose content is called so: beside the one that the source shows also what stayed
    /// here of those that were at its path before.
    package func origins(content: ContentHash) throws(Failure) -> [OriginRow] {
        let select = try connection.statement("SELECT * FROM origin WHERE content = ?")
        defer { select.reset() }
        select.bind(1, content)
        return try origins(select)
    }

    /// Where the object is whose content is called so: the address of its tree, its path and tag there.
    /// What the source shows goes before what stayed here of objects that went. One statement: each takes
    /// SQLite's lock of its own.
    package func place(content: ContentHash) throws(Failure)
        -> (tree: String, path: [UInt8], tag: [UInt8])?
    {
        let select = try connection.statement(
            """
            SELECT source.address, origin.path, origin.tag
            FROM origin JOIN source ON source.root = origin.source WHERE origin.content = ?
            ORDER BY origin.identity = x'00', origin.item DESC
            """)
        defer { select.reset() }
        select.bind(1, content)
        guard try select.step() else { return nil }
        return (select.text(0) ?? "", select.bytes(1) ?? [], select.bytes(2) ?? [])
    }

    /// Shows all of a source's objects, folders after what is in them.
    package func forEachOrigin(of source: ItemNumber, _ body: (OriginRow) -> Void) throws(Failure) {
        let select = try connection.statement(
            "SELECT * FROM origin WHERE source = ? ORDER BY path DESC")
        defer { select.reset() }
        select.bind(1, source.rawValue)
        while try select.step() { body(try origin(select)) }
    }

    /// The versions whose content is called so.
    package func versions(content: ContentHash) throws(Failure) -> [VersionRow] {
        let select = try connection.statement("SELECT * FROM version WHERE hash = ?")
        defer { select.reset() }
        select.bind(1, content)
        return try rows(select)
    }

    /// All rows of both tables, for checks.
    package func sources() throws(Failure) -> [SourceRow] {
        let select = try connection.statement("SELECT root, address FROM source ORDER BY root")
        defer { select.reset() }
        var rows: [SourceRow] = []
        while try select.step() {
            rows.append(
                SourceRow(
                    root: ItemNumber(rawValue: select.unsigned(0)), address: select.text(1) ?? ""))
        }
        return rows
    }

    package func origins() throws(Failure) -> [OriginRow] {
        let select = try connection.statement("SELECT * FROM origin ORDER BY item")
        defer { select.reset() }
        return try origins(select)
    }

    private func origins(_ select: Statement) throws(Failure) -> [OriginRow] {
        var rows: [OriginRow] = []
        while try select.step() { rows.append(try origin(select)) }
        return rows
    }

    private func origin(_ select: Statement) throws(Failure) -> OriginRow {
        OriginRow(
            item: ItemNumber(rawValue: select.unsigned(0)),
            source: ItemNumber(rawValue: select.unsigned(1)), path: select.bytes(2) ?? [],
            identity: select.bytes(3) ?? [], tag: select.bytes(4) ?? [],
            content: try select.hash(5),
            waitsAt: select.bytes(7).map { name in
                NamePlace(parent: ItemNumber(rawValue: select.unsigned(6)), name: name)
            })
    }

    func put(_ row: SourceRow) throws(Failure) {
        let put = try connection.statement("INSERT OR REPLACE INTO source VALUES (?, ?)")
        put.bind(1, row.root.rawValue)
        put.bind(2, row.address)
        try put.run()
    }

    func put(_ row: OriginRow) throws(Failure) {
        let put = try connection.statement(
            "INSERT OR REPLACE INTO origin VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        put.bind(1, row.item.rawValue)
        put.bind(2, row.source.rawValue)
        put.bind(3, row.path)
        put.bind(4, row.identity)
        put.bind(5, row.tag)
        put.bind(6, row.content)
        // Both stay null otherwise.
        if let place = row.waitsAt {
            put.bind(7, place.parent.rawValue)
            put.bind(8, place.name)
        }
        try put.run()
    }
}
