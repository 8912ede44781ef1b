internal import Model

/// The tables of a container's catalog, and how an older catalog becomes a current one.
enum Schema {
    /// "SHED": marks a SQLite file as a container's catalog.
    static let applicationID: Int64 = 0x5348_4544

    /// The `user_version` of a catalog that this program writes.
    static var currentVersion: Int64 { Int64(migrations.count) }

    /// Brings the database to the current version, each step in one transaction; `create` says
    /// whether an empty one may become a catalog.
    static func prepare(_ connection: Connection, create: Bool) throws(Failure) {
        let version = try check(connection, create: create)
        // Before anything is changed: the release that made it may still make something of it.
        try checkTables(connection, of: version)
        do throws(Failure) { try migrate(connection, from: version) } catch {
            // Its version is not what its tables are: no statement of ours is wrong.
            guard error.kind == .software else { throw error }
            throw Failure(.badData, "\(error.message), at a catalog of version \(version)")
        }
    }

    private static func migrate(
        _ connection: Connection, from version: Int, to last: Int = migrations.count
    ) throws(Failure) {
        for (index, migration) in migrations.enumerated().prefix(last).dropFirst(version) {
            try connection.transaction { () throws(Failure) in
                for sql in migration { try connection.execute(sql) }
                try connection.execute("PRAGMA application_id = \(applicationID)")
                try connection.execute("PRAGMA user_version = \(index + 1)")
                // What the file was when it was closed tells nothing any more.
                if index > 0 {
                    let key = CatalogDatabase.closing
                    try connection.execute("DELETE FROM meta WHERE key = '\(key)'")
                }
            }
        }
    }

    /// Refuses whatever is not a catalog that this program can read; changes nothing.
    ///
    /// - Returns: the version of the catalog.
    @discardableResult
    static func check(_ connection: Connection, create: Bool) throws(Failure) -> Int {
        let version = try connection.integer("PRAGMA user_version")
        let application = try connection.integer("PRAGMA application_id")
        if application == 0, version == 0, create,
            try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
        {
            return 0
        }
        guard application == applicationID, version > 0 else {
            throw Failure(
                .badData,
                "\(connection.path): this is not a ShapeEdit catalog")
        }
        guard version <= currentVersion else {
            throw Failure(
                .configuration,
                """
                \(connection.path): the container was made by a newer ShapeEdit (catalog version \
                \(version), this program knows up to \(currentVersion)); update ShapeEdit
                """)
        }
        return Int(version)
    }

    /// Fails where a table is not as it is made in that version: what is asked of it would fail, perhaps only
    /// in the middle of a mount.
    private static func checkTables(_ connection: Connection, of version: Int) throws(Failure) {
        let made = try Connection(path: Connection.memory, create: true, busyMilliseconds: 0)
        defer { made.close() }
        try migrate(made, from: 0, to: version)
        let found = try columns(connection)
        for (table, columns) in try columns(made) where found[table] != columns {
            throw Failure(
                .badData,
                "\(connection.path): the table \(table) is "
                    + (found[table] == nil ? "missing" : "not what it was"))
        }
    }

    /// The columns of each table, with their types, what of them may be null and the order in the key.
    private static func columns(_ connection: Connection) throws(Failure) -> [String: [String]] {
        let select = try connection.statement(
            """
            SELECT made.name, own.name || ' ' || own.type || ' ' || own."notnull" || ' ' || own.pk
            FROM sqlite_schema AS made JOIN pragma_table_info(made.name) AS own
            WHERE made.type = 'table' ORDER BY made.name, own.cid
            """)
        defer { select.reset() }
        var columns: [String: [String]] = [:]
        while try select.step() {
            columns[select.text(0) ?? "", default: []].append(select.text(1) ?? "")
        }
        return columns
    }

    /// Statement lists; the list at index n leads from version n to n + 1. Never edit one that
    /// has been released, only append.
    private static let migrations: [[String]] = [
        first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth,
        eleventh,
    ]

    // Versions that were replaced unseen; an older program would thin them out.
    private static let seventh = [
        """
        CREATE TABLE version_conflict (
            item INTEGER NOT NULL, ordinal INTEGER NOT NULL, PRIMARY KEY (item, ordinal)
        ) STRICT, WITHOUT ROWID
        """
    ]

    // Documents that applications may use; an older program would go on granting what was revoked.
    private static let eighth = [
        """
        CREATE TABLE document_grant (
            document INTEGER NOT NULL, application TEXT NOT NULL, access INTEGER NOT NULL,
            granted INTEGER NOT NULL, until INTEGER, PRIMARY KEY (document, application)
        ) STRICT, WITHOUT ROWID
        """
    ]

    // Versions that count as saves of their own; an older program would thin them out.
    private static let ninth = [
        """
        CREATE TABLE version_apart (
            item INTEGER NOT NULL, ordinal INTEGER NOT NULL, PRIMARY KEY (item, ordinal)
        ) STRICT, WITHOUT ROWID
        """
    ]

    // Where items are whose names at the source are taken here. An older program would think that
    // somebody moved them, and leave them there for ever.
    private static let tenth = [
        "ALTER TABLE origin ADD COLUMN waiting_parent INTEGER",
        "ALTER TABLE origin ADD COLUMN waiting_name BLOB",
    ]

    // The age of hard links. An older program would call documents by their newest name. Those that
    // are there are taken to be as old as each other.
    private static let eleventh = [
        "ALTER TABLE name ADD COLUMN rank INTEGER NOT NULL DEFAULT 0"
    ]

    // Items that are objects of a foreign tree. An older program does not know where their contents
    // are. The indexes are not unique: while objects change places, two may have one path for a moment.
    private static let sixth = [
        "CREATE TABLE source (root INTEGER PRIMARY KEY, address TEXT NOT NULL) STRICT",
        """
        CREATE TABLE origin (
            item INTEGER PRIMARY KEY, source INTEGER NOT NULL, path BLOB NOT NULL,
            identity BLOB NOT NULL, tag BLOB NOT NULL, content BLOB
        ) STRICT
        """,
        "CREATE INDEX origin_path ON origin (source, path)",
        "CREATE INDEX origin_identity ON origin (source, identity) WHERE identity <> x''",
        "CREATE INDEX origin_content ON origin (content) WHERE content IS NOT NULL",
    ]

    // Contents in a store: promised ones are looked for after a power loss. An older program does
    // not know their places and must not open the container.
    private static let second = [
        "CREATE INDEX version_promised ON version (place) WHERE place = 5"
    ]

    // Documents that were opened lately.
    private static let fifth = [
        "CREATE TABLE recent (document INTEGER PRIMARY KEY, opened INTEGER NOT NULL) STRICT"
    ]

    // Ways back to documents; an older program would leave those of deleted documents behind.
    private static let fourth = [
        """
        CREATE TABLE bookmark (
            high INTEGER NOT NULL, low INTEGER NOT NULL, document INTEGER NOT NULL,
            application TEXT NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (high, low)
        ) STRICT, WITHOUT ROWID
        """
    ]

    // Versions that stay until they are unpinned; where a name was before it moved.
    private static let third = [
        """
        CREATE TABLE version_pin (
            item INTEGER NOT NULL, ordinal INTEGER NOT NULL, PRIMARY KEY (item, ordinal)
        ) STRICT, WITHOUT ROWID
        """,
        "ALTER TABLE change ADD COLUMN from_parent INTEGER",
        "ALTER TABLE change ADD COLUMN from_name BLOB",
    ]

    // Integers that are unsigned in the program (numbers, identities, moments) are stored as the
    // same bits, signed. Names and xattr names are blobs because a name is any bytes.
    private static let first = [
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
        """
        CREATE TABLE item (
            id INTEGER PRIMARY KEY, mode INTEGER NOT NULL, uid INTEGER NOT NULL,
            gid INTEGER NOT NULL, links INTEGER NOT NULL, device INTEGER NOT NULL,
            size INTEGER NOT NULL, blocks INTEGER NOT NULL, modified INTEGER NOT NULL,
            changed INTEGER NOT NULL, accessed INTEGER NOT NULL, document INTEGER NOT NULL,
            ordinal INTEGER NOT NULL, next_ordinal INTEGER NOT NULL, place INTEGER NOT NULL,
            hash BLOB, target BLOB
        ) STRICT
        """,
        "CREATE INDEX item_hash ON item (hash) WHERE hash IS NOT NULL",
        """
        CREATE TABLE name (
            parent INTEGER NOT NULL, name BLOB NOT NULL, item INTEGER NOT NULL,
            PRIMARY KEY (parent, name)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX name_item ON name (item)",
        """
        CREATE TABLE xattr (
            item INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL,
            PRIMARY KEY (item, name)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE version (
            item INTEGER NOT NULL, ordinal INTEGER NOT NULL, document INTEGER NOT NULL,
            size INTEGER NOT NULL, blocks INTEGER NOT NULL, modified INTEGER NOT NULL,
            published INTEGER NOT NULL, author INTEGER NOT NULL, place INTEGER NOT NULL,
            hash BLOB,
            PRIMARY KEY (item, ordinal)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX version_document ON version (document, published)",
        "CREATE INDEX version_hash ON version (hash) WHERE hash IS NOT NULL",
        "CREATE INDEX version_staged ON version (place) WHERE place IN (1, 3)",
        """
        CREATE TABLE session (
            item INTEGER NOT NULL, ordinal INTEGER NOT NULL, author INTEGER NOT NULL,
            size INTEGER NOT NULL, modified INTEGER NOT NULL, changed INTEGER NOT NULL,
            wrote INTEGER NOT NULL, synced INTEGER NOT NULL,
            PRIMARY KEY (item, ordinal)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE change (
            seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind INTEGER NOT NULL,
            item INTEGER NOT NULL, parent INTEGER, name BLOB, process INTEGER NOT NULL
        ) STRICT
        """,
    ]
}
