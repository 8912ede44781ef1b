package import Model

/// Single values beside the tables: the settings of the container and the catalog's own counters.
extension CatalogDatabase {
    /// The catalog's own entries of the table, integers; ``setMeta(_:_:)`` does not touch them.
    enum Counter: String, CaseIterable {
        /// The sequence of the last change applied.
        case applied
        /// The highest number ever given out.
        case highest
        /// The sequence of the last change that was taken out of the log for its age.
        case pruned
    }

    /// The value that ``setMeta(_:_:)`` left under `key`; `nil` if none.
    package func meta(_ key: String) throws(Failure) -> String? {
        let select = try connection.statement("SELECT value FROM meta WHERE key = ?")
        defer { select.reset() }
        select.bind(1, key)
        return try select.step() ? select.text(0) : nil
    }

    /// Keeps `value` under `key`, in a transaction of its own; `nil` removes it.
    ///
    /// - Precondition: `key` is not one of the catalog's counters (applied, highest, pruned).
    package func setMeta(_ key: String, _ value: String?) throws(Failure) {
        precondition(Counter(rawValue: key) == nil, "\(key) belongs to the catalog")
        let statement = try connection.statement(
            value == nil
                ? "DELETE FROM meta WHERE key = ?" : "INSERT OR REPLACE INTO meta VALUES (?, ?)")
        statement.bind(1, key)
        if let value { statement.bind(2, value) }
        try statement.run()
    }

    /// Goes on giving out numbers after `number`: only to repair a counter that is damaged.
    package func resetHighestNumber(_ number: UInt64) throws(Failure) {
        try connection.transaction { () throws(Failure) in try setCounter(.highest, number) }
        highestNumber = number
    }

    func counter(_ counter: Counter) throws(Failure) -> Int64 {
        try connection.integer("SELECT value FROM meta WHERE key = '\(counter.rawValue)'")
    }

    /// Inside a transaction of the caller's.
    func setCounter(_ counter: Counter, _ value: UInt64) throws(Failure) {
        let put = try connection.statement("INSERT OR REPLACE INTO meta VALUES (?, ?)")
        put.bind(1, counter.rawValue)
        put.bind(2, value)
        try put.run()
    }
}
