package import Model

/// The state of the file itself.
extension CatalogDatabase {
    /// What SQLite finds wrong with the file, at most 100 lines; empty if nothing.
    package func integrityErrors() throws(Failure) -> [String] {
        let select = try connection.statement("PRAGMA integrity_check(100)")
        defer { select.reset() }
        var lines: [String] = []
        do {
            while try select.step() { lines.append(select.text(0) ?? "") }
        } catch {
            // Some damage ends the check itself.
            guard error.kind == .badData else { throw error }
            lines.append(error.message)
        }
        return lines == ["ok"] ? [] : lines
    }

    /// Makes every commit so far durable: syncs SQLite's log, brings it into the database, syncs
    /// that and empties the log; where room is held, its file stays and is written from its start.
    ///
    /// Fails with `.temporary` if a reader or another process kept it from finishing for the whole
    /// busy timeout: the commits are not known to be durable then.
    package func checkpoint() throws(Failure) {
        let pragma = try connection.statement(
            "PRAGMA wal_checkpoint(\(holdsRoom ? "RESTART" : "TRUNCATE"))")
        defer { pragma.reset() }
        guard try pragma.step(), pragma.integer(0) == 0 else {
            throw Failure(
                .temporary,
                "\(connection.path): the checkpoint has to wait, somebody is reading the catalog")
        }
    }

    /// SQLite's log grows with every commit. So many bytes of it are enough.
    package static let longLog: Int64 = 64 << 20

    /// Brings SQLite's log into the database if it has become long, so that it is written from its start
    /// again and its file becomes short. Waits for nobody: what a reader still needs stays in the log
    /// until the next call. Does nothing where no room is held.
    package func shortenLog(from length: Int64 = CatalogDatabase.longLog) throws(Failure) {
        guard let room, room.logLength >= length else { return }
        let pragma = try connection.statement("PRAGMA wal_checkpoint(PASSIVE)")
        defer { pragma.reset() }
        _ = try pragma.step()
    }
}
