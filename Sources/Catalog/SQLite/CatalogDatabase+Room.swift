package import Model

/// Room on the disk that the catalog has before it needs it: removing files makes room, and a full
/// disk must not keep the catalog from recording that.
///
/// The catalog's own file is allocated ahead of each transaction, so that a checkpoint needs nothing
/// more; it, SQLite's log and shared memory have their blocks (``CatalogRoom``); and a row of the table
/// `meta` holds pages that are given up to the other tables when the disk is full.
extension CatalogDatabase {
    /// Mutations of one transaction, and of one on a full disk.
    private static let batch = 8_192
    private static let smallBatch = 64
    /// What a mutation adds to the tables and their indexes, in bytes; more than most do.
    private static let growth: Int64 = 512
    /// What a transaction may add whatever its size: a page or two for each tree.
    private static let slack: Int64 = 64 << 10
    private static let reserveBytes: Int64 = 1 << 20
    private static let pageBytes: Int64 = 4_096

    /// Takes the room, as far as the disk has it, and keeps it until the catalog is closed. The reserve is
    /// taken when mutations are applied, or with ``refillReserve()``: before that they may need it.
    package func holdRoom() throws(Failure) {
        holdsRoom = true
        connection.setChunk(Int32(CatalogRoom.chunk))
        hasReserve = try connection.integer("SELECT count(*) FROM meta WHERE key = 'reserve'") != 0
        if room == nil { room = CatalogRoom(path: connection.path) }
        room?.hold()
    }

    /// Applies any number of mutations, in as many transactions as the disk has room for.
    ///
    /// - Throws: as ``apply(_:)``; some of the mutations may have been applied then, which
    ///   ``appliedSequence`` tells.
    package func applyAll(_ mutations: [Mutation]) throws(Failure) {
        var rest = mutations[...]
        while !rest.isEmpty {
            if extendFile(for: min(rest.count, Self.batch)) {
                do throws(Failure) {
                    try apply(Array(rest.prefix(Self.batch)))
                    rest = rest.dropFirst(Self.batch)
                    try refillReserve()
                    continue
                } catch {
                    if !error.isDiskFull { throw error }
                }
            }
            try makeRoom()
            try checkRoom()
            try apply(Array(rest.prefix(Self.smallBatch)))
            // The next one has the log from its start again.
            try checkpoint()
            rest = rest.dropFirst(Self.smallBatch)
        }
        room?.hold()
    }

    /// Whether the file has the blocks for all pages that are in SQLite's log, and for more.
    private func extendFile(for mutations: Int) -> Bool {
        guard holdsRoom else { return true }
        guard let pages = try? connection.integer("PRAGMA page_count") else { return false }
        let bytes = pages * Self.pageBytes + Int64(mutations) * Self.growth + Self.slack
        return room?.holdCatalog(to: bytes) ?? connection.extendFile(to: bytes)
    }

    /// Empties SQLite's log and gives the reserve's pages to the other tables.
    private func makeRoom() throws(Failure) {
        try checkpoint()
        guard hasReserve else { return }
        try connection.execute("DELETE FROM meta WHERE key = 'reserve'")
        hasReserve = false
        try checkpoint()
    }

    /// Fails if a small transaction may need more than the file has: what is in SQLite's log and cannot go into
    /// the file takes room when the container is opened again, too.
    private func checkRoom() throws(Failure) {
        let needed = Int64(Self.smallBatch) * Self.growth + Self.slack
        if try connection.integer("PRAGMA freelist_count") * Self.pageBytes >= needed { return }
        if extendFile(for: Self.smallBatch) { return }
        throw SQLiteFailure.full(path: path)
    }

    /// Takes the pages that are given up on a full disk. There are none on one, until there is room again.
    package func refillReserve() throws(Failure) {
        if hasReserve || !holdsRoom { return }
        guard extendFile(for: Int(Self.reserveBytes / Self.growth)) else { return }
        do throws(Failure) {
            try connection.execute(
                "INSERT INTO meta VALUES ('reserve', zeroblob(\(Self.reserveBytes)))")
            hasReserve = true
            // Or it would take as much of SQLite's log, too.
            try checkpoint()
        } catch {
            if !error.isDiskFull { throw error }
        }
    }
}
