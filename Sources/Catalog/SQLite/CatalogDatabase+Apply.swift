package import Model

/// The one way that mutations get into the tables.
extension CatalogDatabase {
    /// Applies the mutations in one transaction, with their entries in the change log.
    ///
    /// Mutations that have been applied before are skipped, so a journal may be replayed from any
    /// earlier point.
    ///
    /// - Throws: `.badData` if a change is missing between the last one applied and one of these;
    ///   what SQLite reports otherwise. Then nothing has been applied.
    package func apply(_ mutations: [Mutation]) throws(Failure) {
        let fresh = mutations.drop { $0.sequence <= appliedSequence && $0.sequence > 0 }
        guard let last = fresh.last else { return }
        let batch = try batch(of: fresh)
        let highest = max(highestNumber, batch.highestNumber)
        try connection.transaction { () throws(Failure) in
            try write(fresh)
            try write(batch)
            try setCounter(.applied, last.sequence)
            if highest > highestNumber { try setCounter(.highest, highest) }
        }
        appliedSequence = last.sequence
        highestNumber = highest
    }

    /// Runs `body` on the tables as they will be when the mutations have been applied, and undoes that. It can
    /// change nothing. Needs no room on the disk: what is changed is in memory until it would be kept.
    ///
    /// - Parameter mutations: in their order; those that have been applied by anybody are skipped.
    package func supposing<Result>(
        _ mutations: [Mutation], _ body: (CatalogDatabase) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try connection.execute("PRAGMA cache_spill = OFF")
        let applied = appliedSequence
        defer { appliedSequence = applied }
        return try connection.supposing { () throws(Failure) in
            appliedSequence = UInt64(bitPattern: try counter(.applied))
            try write(batch(of: mutations.drop { $0.sequence <= appliedSequence }))
            try connection.execute("PRAGMA query_only = ON")
            defer { try? connection.execute("PRAGMA query_only = OFF") }
            return try body(self)
        }
    }

    /// What the mutations come to, which follow the last one that was applied.
    private func batch(of fresh: ArraySlice<Mutation>) throws(Failure) -> EffectBatch {
        var batch = EffectBatch()
        var expected = appliedSequence
        for mutation in fresh {
            expected += 1
            guard mutation.sequence == expected else {
                throw Failure(
                    .badData,
                    """
                    \(connection.path): change \(expected) is missing, \(mutation.sequence) came \
                    in its place
                    """)
            }
            for effect in mutation.effects { batch.add(effect) }
        }
        return batch
    }

    private func write(_ changes: ArraySlice<Mutation>) throws(Failure) {
        let insert = try connection.statement(
            "INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        for change in changes {
            insert.bind(1, change.sequence)
            insert.bind(2, change.time.rawValue)
            insert.bind(3, Int64(change.kind.rawValue))
            insert.bind(4, change.item.rawValue)
            if let parent = change.parent { insert.bind(5, parent.rawValue) }
            insert.bind(6, change.name)
            insert.bind(7, Int64(change.process))
            if let former = change.former {
                insert.bind(8, former.parent.rawValue)
                insert.bind(9, former.name)
            }
            try insert.run()
        }
    }

    /// Sorted by item number where many rows may come, because neighbours share pages.
    private func write(_ batch: EffectBatch) throws(Failure) {
        for (number, row) in batch.items.sorted(by: { $0.key < $1.key }) {
            if let row { try put(row) } else { try delete("item WHERE id = ?", number) }
        }
        for (key, named) in batch.names.sorted(by: { $0.key.parent < $1.key.parent }) {
            let sql =
                named == nil
                ? "DELETE FROM name WHERE parent = ? AND name = ?"
                : "INSERT OR REPLACE INTO name VALUES (?, ?, ?, ?)"
            let statement = try connection.statement(sql)
            statement.bind(1, key.parent.rawValue)
            statement.bind(2, key.name)
            if let named {
                statement.bind(3, named.item.rawValue)
                statement.bind(4, named.rank)
            }
            try statement.run()
        }
        for number in batch.strippedItems { try delete("xattr WHERE item = ?", number) }
        for (number, attributes) in batch.attributes {
            for (name, value) in attributes { try put(number, name, value) }
        }
        for (item, document) in batch.adoptions {
            let update = try connection.statement("UPDATE version SET document = ? WHERE item = ?")
            update.bind(1, document.rawValue)
            update.bind(2, item.rawValue)
            try update.run()
        }
        for (key, place) in batch.places {
            let update = try connection.statement(
                "UPDATE version SET place = ? WHERE item = ? AND ordinal = ?")
            update.bind(1, Int64(place.rawValue))
            update.bind(2, key.item.rawValue)
            update.bind(3, key.ordinal)
            try update.run()
        }
        for (item, versions) in batch.versions.sorted(by: { $0.key < $1.key }) {
            for (ordinal, row) in versions {
                if let row { try put(row) } else { try delete("version", item, ordinal) }
            }
        }
        try mark("version_pin", batch.pins)
        try mark("version_conflict", batch.conflicts)
        try mark("version_apart", batch.apart)
        for (document, opened) in batch.recents { try put(document, opened: opened) }
        for (id, row) in batch.bookmarks {
            if let row { try put(row) } else { try removeBookmark(id) }
        }
        for (key, row) in batch.grants {
            if let row { try put(row) } else { try removeGrant(key.document, key.application) }
        }
        for row in batch.sources.values { try put(row) }
        for (item, row) in batch.origins.sorted(by: { $0.key < $1.key }) {
            if let row { try put(row) } else { try delete("origin WHERE item = ?", item) }
        }
        for (key, row) in batch.sessions {
            if let row { try put(row) } else { try delete("session", key.item, key.ordinal) }
        }
    }

    /// Puts versions into a table of them (true), or takes them out.
    private func mark(_ table: String, _ versions: [EffectBatch.SessionKey: Bool]) throws(Failure) {
        for (key, isMarked) in versions {
            if isMarked {
                let put = try connection.statement("INSERT OR REPLACE INTO \(table) VALUES (?, ?)")
                put.bind(1, key.item.rawValue)
                put.bind(2, key.ordinal)
                try put.run()
            } else {
                try delete(table, key.item, key.ordinal)
            }
        }
    }

    private func delete(_ clause: String, _ item: ItemNumber) throws(Failure) {
        let delete = try connection.statement("DELETE FROM \(clause)")
        delete.bind(1, item.rawValue)
        try delete.run()
    }

    private func delete(_ table: String, _ item: ItemNumber, _ ordinal: Ordinal) throws(Failure) {
        let delete = try connection.statement(
            "DELETE FROM \(table) WHERE item = ? AND ordinal = ?")
        delete.bind(1, item.rawValue)
        delete.bind(2, ordinal)
        try delete.run()
    }
}
