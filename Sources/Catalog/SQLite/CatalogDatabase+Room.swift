package import Model

/// Room on the disk that the catalog has before it needs it: removing files makes room, and a full
/// disk must not keep the catalog from recording that.
///
/// The catalog's own file is allocated ahead of each transaction, so that a checkpoint needs nothing
/// more; it, SQLite's log and shared memory have their blocks (``CatalogRoom``); and a row of the table
/// `meta` holds pages that are given up to the other tables when the disk is full.
extension CatalogDatabase {
    /// Mutations of one transaction.
    private static let batch = 8_192
    /// What the mutations of one on a full disk may add, in bytes, if they are several.
    private static let smallGrowth: Int64 = 32 << 10
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
            let many = rest.prefix(Self.batch)
            if extendFile(by: many.growth) {
                do throws(Failure) {
                    try apply(Array(many))
                    rest = rest.dropFirst(Self.batch)
                    try refillReserve()
                    continue
                } catch {
                    if !error.isDiskFull { throw error }
                }
            }
            try makeRoom()
            let few = Self.few(of: rest)
            try checkRoom(for: few.growth)
            try apply(Array(few))
            // The next one has the log from its start again.
            try checkpoint()
            rest = rest.dropFirst(few.count)
        }
        room?.hold()
    }

    /// The first ones: one at least.
    private static func few(of mutations: ArraySlice<Mutation>) -> ArraySlice<Mutation> {
        var growth: Int64 = 0
        let others = mutations.dropFirst().prefix { mutation in
            growth += mutation.growth
            return growth <= smallGrowth
        }
        return mutations.prefix(1 + others.count)
    }

    /// Whether the file has the blocks for all pages that are in SQLite's log, and for so many bytes more.
    private func extendFile(by growth: Int64) -> Bool {
        guard holdsRoom else { return true }
        guard let pages = try? connection.integer("PRAGMA page_count") else { return false }
        let bytes = pages * Self.pageBytes + growth + Self.slack
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
    private func checkRoom(for growth: Int64) throws(Failure) {
        let free = try connection.integer("PRAGMA freelist_count") * Self.pageBytes
        if free >= growth + Self.slack || extendFile(by: growth) { return }
        throw SQLiteFailure.full(path: path)
    }

    /// Takes the pages that are given up on a full disk. There are none on one, until there is room again.
    package func refillReserve() throws(Failure) {
        if hasReserve || !holdsRoom { return }
        guard extendFile(by: Self.reserveBytes) else { return }
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
