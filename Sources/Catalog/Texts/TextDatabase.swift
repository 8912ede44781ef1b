internal import Glibc
package import Model
internal import PathText

/// The words of a document's version.
package struct TextRow: Sendable {
    package var document: DocumentID
    package var node: NodeNumber
    /// What it was read as; another name may tell another.
    package var type: UInt8
    /// Empty if the document has no title of its own.
    package var title: String
    package var body: String

    package init(
        document: DocumentID, node: NodeNumber, type: UInt8, title: String, body: String
    ) {
        self.document = document
        self.node = node
        self.type = type
        self.title = title
        self.body = body
    }
}

/// The words of documents in SQLite's FTS5, in a file of its own beside the catalog.
///
/// Not `Sendable`, and used by one thread at a time. All of it can be made again from the documents,
/// but for those whose content is only in the store by now: so a commit survives the death of the
/// daemon, and after a power cut what is missing is found out by ``mark()``.
package final class TextDatabase {
    private let connection: Connection

    /// Earlier versions are brought up to it, a later one is made anew.
    private static let version: Int64 = 5
    /// "SHET": marks a SQLite file as one of these.
    private static let applicationID: Int64 = 0x5348_4554
    private static let tables = [
        """
        CREATE TABLE document (
            id INTEGER PRIMARY KEY, item INTEGER NOT NULL, ordinal INTEGER NOT NULL,
            type INTEGER NOT NULL, title TEXT NOT NULL
        ) STRICT
        """,
        "CREATE INDEX document_item ON document (item)",
        """
        CREATE VIRTUAL TABLE words USING fts5(
            title, body, tokenize = "unicode61 remove_diacritics 2"
        )
        """,
        "CREATE TABLE mark (sequence INTEGER NOT NULL) STRICT",
        "PRAGMA application_id = \(applicationID)",
        "PRAGMA user_version = \(version)",
    ]

    /// Opens the file; one that is missing, damaged or of another version becomes an empty one.
    package init(path: String) throws(Failure) {
        do throws(Failure) { connection = try Self.open(path) } catch {
            guard error.kind == .badData else { throw error }
            Self.remove(path)
            connection = try Self.open(path)
        }
    }

    /// Removes the file, which nobody has open: the words are taken from the documents again.
    package static func remove(_ path: String) {
        for end in ["", "-wal", "-shm"] { unlink((path + end).cPath) }
    }

    /// Whether the file is there and not what was written. One of another version is made anew anyway.
    package static func isDamaged(_ path: String) -> Bool {
        guard access(path.cPath, F_OK) == 0 else { return false }
        do throws(Failure) {
            let connection = try Connection(path: path, create: false, busyMilliseconds: 5_000)
            defer { connection.close() }
            guard try connection.integer("PRAGMA application_id") == applicationID else {
                return true
            }
            guard try connection.text("PRAGMA integrity_check(1)") == "ok" else { return true }
            // Compares the index with the texts.
            try connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
            return false
        } catch {
            return error.kind == .badData
        }
    }

    private static func open(_ path: String) throws(Failure) -> Connection {
        let connection = try Connection(path: path, create: true, busyMilliseconds: 5_000)
        // Nobody else opens it. Memory that is shared through a file would have no blocks on a full disk: a
        // page of it would end the process with SIGBUS.
        _ = try connection.text("PRAGMA locking_mode = EXCLUSIVE")
        _ = try connection.text("PRAGMA journal_mode = WAL")
        _ = try connection.execute("PRAGMA synchronous = NORMAL")
        _ = try connection.execute("PRAGMA cache_size = -2048")
        let known = try connection.integer("PRAGMA user_version")
        if try connection.integer("PRAGMA application_id") == applicationID {
            if known == version { return connection }
            if (1..<version).contains(known) {
                try connection.transaction { () throws(Failure) in try renew(connection) }
                return connection
            }
        }
        guard known == 0, try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
            connection.close()
            throw Failure(.badData, "\(path): not the words of documents, or of another version")
        }
        try connection.transaction { () throws(Failure) in
            for sql in tables { try connection.execute(sql) }
        }
        return connection
    }

    /// What is kept of a text, and looked for: version 2 has it as ``UnspacedText`` takes it apart, version 3
    /// as ``FoldedText`` does, too, version 4 as ``ComposedText`` puts it together, version 5 in the
    /// width of ``UsualWidthText``, and with Thai and its like apart. A zero would end it for SQLite; it stands
    /// between words.
    static func kept(_ text: String) -> String {
        let usual = FoldedText.folded(UsualWidthText.widened(text))
        let kept = UnspacedText.apart(ComposedText.composed(usual))
        guard kept.utf8.contains(0) else { return kept }
        return String(decoding: kept.utf8.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    /// Brings earlier versions up to this one. What is only in the store by now could not be read again.
    private static func renew(_ connection: Connection) throws(Failure) {
        let select = try connection.statement(
            "SELECT rowid, title, body FROM words WHERE rowid > ? ORDER BY rowid LIMIT 1")
        defer { select.reset() }
        let update = try connection.statement(
            "UPDATE words SET title = ?, body = ? WHERE rowid = ?")
        defer { update.reset() }
        var last = Int64.min
        while true {
            select.bind(1, last)
            guard try select.step() else { break }
            last = select.integer(0)
            let (title, body) = (select.text(1) ?? "", select.text(2) ?? "")
            // A row is not changed while it is read.
            select.reset()
            let (newTitle, newBody) = (kept(joined(title)), kept(joined(body)))
            if newTitle == title, newBody == body { continue }
            update.bind(1, newTitle)
            update.bind(2, newBody)
            update.bind(3, last)
            try update.run()
        }
        try connection.execute("PRAGMA user_version = \(version)")
    }

    /// A text of an earlier version, which may have the marks of Kana, whole or half, apart from these.
    private static func joined(_ text: String) -> String {
        var text = text
        for mark in ["\u{3099}", "\u{309a}", "\u{ff9e}", "\u{ff9f}"] {
            text = text.replacing(" " + mark, with: mark)
        }
        return text
    }

    /// Closes the file. Nothing else may be called afterwards.
    package func close() { connection.close() }

    /// The last change up to which all is in it; nil if it was never complete.
    package func mark() throws(Failure) -> ChangeSequence? {
        let statement = try connection.statement("SELECT sequence FROM mark")
        defer { statement.reset() }
        return try statement.step() ? statement.unsigned(0) : nil
    }

    /// Which version of a document is in it, and what it was read as.
    package func known(_ document: DocumentID) throws(Failure) -> (node: NodeNumber, type: UInt8)? {
        let statement = try connection.statement(
            "SELECT item, ordinal, type FROM document WHERE id = ?")
        defer { statement.reset() }
        statement.bind(1, document.rawValue)
        guard try statement.step() else { return nil }
        let node = NodeNumber(
            ItemNumber(rawValue: statement.unsigned(0)), statement.unsigned32(1))
        return (node, UInt8(truncatingIfNeeded: statement.integer(2)))
    }

    /// The items whose versions are in it.
    package func items() throws(Failure) -> [ItemNumber] {
        let statement = try connection.statement("SELECT item FROM document")
        defer { statement.reset() }
        var items: [ItemNumber] = []
        while try statement.step() { items.append(ItemNumber(rawValue: statement.unsigned(0))) }
        return items
    }

    /// What is kept of a version, whichever document it was when it was read; nil if nothing is.
    package func row(of node: NodeNumber) throws(Failure) -> TextRow? {
        let statement = try connection.statement(
            """
            SELECT document.id, document.type, document.title, words.body
            FROM document JOIN words ON words.rowid = document.id
            WHERE document.item = ? AND document.ordinal = ?
            """)
        defer { statement.reset() }
        statement.bind(1, node.item.rawValue)
        statement.bind(2, UInt64(node.ordinal))
        guard try statement.step() else { return nil }
        return TextRow(
            document: DocumentID(rawValue: statement.unsigned(0)), node: node,
            type: UInt8(truncatingIfNeeded: statement.integer(1)),
            title: statement.text(2) ?? "", body: statement.text(3) ?? "")
    }

    /// Takes items and documents out, puts rows in, and notes up to which change it is complete; all or
    /// nothing.
    package func apply(
        _ rows: [TextRow], without items: [ItemNumber], documents: [DocumentID] = [],
        mark: ChangeSequence?
    ) throws(Failure) {
        try connection.transaction { () throws(Failure) in
            for item in items { try remove(item) }
            for document in documents { try remove(document) }
            for row in rows { try put(row) }
            guard let mark else { return }
            try connection.execute("DELETE FROM mark")
            let statement = try connection.statement("INSERT INTO mark VALUES (?)")
            statement.bind(1, mark)
            try statement.run()
        }
    }

    private func remove(_ item: ItemNumber) throws(Failure) {
        for sql in [
            "DELETE FROM words WHERE rowid IN (SELECT id FROM document WHERE item = ?)",
            "DELETE FROM document WHERE item = ?",
        ] {
            let statement = try connection.statement(sql)
            statement.bind(1, item.rawValue)
            try statement.run()
        }
    }

    private func remove(_ document: DocumentID) throws(Failure) {
        for sql in ["DELETE FROM words WHERE rowid = ?", "DELETE FROM document WHERE id = ?"] {
            let statement = try connection.statement(sql)
            statement.bind(1, document.rawValue)
            try statement.run()
        }
    }

    private func put(_ row: TextRow) throws(Failure) {
        // An item that is another document by now has left nothing to the former.
        try remove(row.node.item)
        let document = try connection.statement(
            "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?)")
        document.bind(1, row.document.rawValue)
        document.bind(2, row.node.item.rawValue)
        document.bind(3, UInt64(row.node.ordinal))
        document.bind(4, Int64(row.type))
        document.bind(5, row.title)
        try document.run()
        let words = try connection.statement(
            "INSERT OR REPLACE INTO words (rowid, title, body) VALUES (?, ?, ?)")
        words.bind(1, row.document.rawValue)
        words.bind(2, Self.kept(row.title))
        words.bind(3, Self.kept(row.body))
        try words.run()
    }

    /// The documents that match, with their titles.
    package func matches(_ pattern: TextPattern) throws(Failure) -> [DocumentID: String] {
        let statement = try connection.statement(
            """
            SELECT document.id, document.title FROM words JOIN document ON document.id = words.rowid
            WHERE words MATCH ?
            """)
        statement.bind(1, pattern.expression)
        return try titles(statement)
    }

    /// The title of a document; nil if it has none.
    package func title(of document: DocumentID) throws(Failure) -> String? {
        let statement = try connection.statement(
            "SELECT title FROM document WHERE id = ? AND title <> ''")
        defer { statement.reset() }
        statement.bind(1, document.rawValue)
        return try statement.step() ? statement.text(0) : nil
    }

    /// All documents that have a title.
    package func titles() throws(Failure) -> [DocumentID: String] {
        try titles(try connection.statement("SELECT id, title FROM document WHERE title <> ''"))
    }

    private func titles(_ statement: Statement) throws(Failure) -> [DocumentID: String] {
        defer { statement.reset() }
        var result: [DocumentID: String] = [:]
        while try statement.step() {
            result[DocumentID(rawValue: statement.unsigned(0))] = statement.text(1) ?? ""
        }
        return result
    }
}
