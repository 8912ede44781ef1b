package import Model
internal import PathText

/// Rows that SQLite can read and ``CatalogDatabase`` cannot. Only to repair a catalog.
extension CatalogDatabase {
    private static let places =
        "\(ContentPlace.none.rawValue) AND \(ContentPlace.elsewhere.rawValue)"

    /// A condition on the columns of an item or a version, `table` with a dot behind it or nothing.
    private static func isReadable(_ table: String = "") -> String {
        """
        (\(table)place BETWEEN \(places)
            AND (\(table)hash IS NULL OR length(\(table)hash) IN (0, 32)))
        """
    }

    /// Gives rows whose values are none that are known others, or takes them out, so that all tables can
    /// be read; what was wrong, a line each. What is sound is not written to.
    ///
    /// An item and its current version tell the same of their content: what can be read of the one is
    /// taken over. Else the place follows from the hash: in the folder or, if it `hasStore`, in the store.
    package func mendUnreadableRows(hasStore: Bool) throws(Failure) -> [String] {
        var problems = try lines(
            """
            SELECT 'item ' || id || ' had a content that cannot be' FROM item
            WHERE NOT \(Self.isReadable())
            UNION ALL
            SELECT 'version ' || ordinal || ' of item ' || item || ' had a content that cannot be'
            FROM version WHERE NOT \(Self.isReadable())
            """)
        var statements = problems.isEmpty ? [] : Self.contentRepairs(hasStore: hasStore)
        let isUnnamed = "WHERE length(content) NOT IN (0, 32)"
        let names = try lines(
            """
            SELECT 'item ' || item || ' had a name at its source that cannot be' FROM origin
            \(isUnnamed)
            """)
        if !names.isEmpty { statements.append("UPDATE origin SET content = NULL \(isUnnamed)") }
        problems += names
        let accesses = GrantedAccess.allCases.map { String($0.rawValue) }.joined(separator: ", ")
        let grants = "document_grant WHERE access NOT IN (\(accesses))"
        let lost = try lines(
            """
            SELECT 'a grant to ' || application || ' could not be read and was taken away: grant the '
                || 'document again' FROM \(grants)
            """)
        if !lost.isEmpty { statements.append("DELETE FROM \(grants)") }
        problems += lost
        let kinds = ChangeKind.allCases.map { String($0.rawValue) }.joined(separator: ", ")
        let unknown = try connection.integer(
            "SELECT count(*) FROM change WHERE kind NOT IN (\(kinds))")
        if unknown > 0 {
            problems.append(
                "the change log had \(Count.words(unknown, "change")) of no kind that there is")
            statements.append(
                """
                UPDATE change SET kind = \(ChangeKind.repaired.rawValue), parent = NULL, name = NULL,
                    from_parent = NULL, from_name = NULL WHERE kind NOT IN (\(kinds))
                """)
        }
        if statements.isEmpty { return [] }
        try connection.transaction { () throws(Failure) in
            for sql in statements { try connection.execute(sql) }
        }
        return problems
    }

    /// Gives rows of a table that cannot be read what those of another one say that are about the same.
    private static func takingOver(_ table: String, from other: String, _ isSame: String) -> String
    {
        """
        UPDATE \(table) SET (place, hash) = (SELECT place, hash FROM \(other) AS own WHERE \(isSame))
        WHERE NOT \(isReadable())
            AND EXISTS (SELECT 1 FROM \(other) AS own WHERE \(isSame) AND \(isReadable("own.")))
        """
    }

    private static func contentRepairs(hasStore: Bool) -> [String] {
        let place = (hasStore ? ContentPlace.promised : .sealed).rawValue
        let rest = """
            hash = CASE WHEN length(hash) = 32 THEN hash END,
            place = CASE WHEN length(hash) = 32 THEN \(place) ELSE \(ContentPlace.staged.rawValue) END
            WHERE NOT \(isReadable())
            """
        return [
            takingOver(
                "item", from: "version", "own.item = item.id AND own.ordinal = item.ordinal"),
            takingOver(
                "version", from: "item", "own.id = version.item AND own.ordinal = version.ordinal"),
            // What was never published has no content.
            """
            UPDATE item SET hash = NULL, place = \(ContentPlace.none.rawValue)
            WHERE ordinal = 0 AND NOT \(isReadable())
            """,
            "UPDATE item SET \(rest)", "UPDATE version SET \(rest)",
        ]
    }

    private func lines(_ sql: String) throws(Failure) -> [String] {
        let select = try connection.statement(sql)
        defer { select.reset() }
        var lines: [String] = []
        while try select.step() { lines.append(select.text(0) ?? "") }
        return lines
    }
}
