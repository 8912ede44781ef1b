package import Model

/// The change log.
extension CatalogDatabase {
    /// Changes after `sequence` in their order, at most `limit` of them.
    package func changes(
        after sequence: ChangeSequence, limit: Int
    ) throws(Failure) -> [ChangeRow] {
        let select = try connection.statement(
            "SELECT * FROM change WHERE seq > ? ORDER BY seq LIMIT ?")
        defer { select.reset() }
        select.bind(1, sequence)
        select.bind(2, Int64(limit))
        var rows: [ChangeRow] = []
        while try select.step() {
            let number = UInt8(truncatingIfNeeded: select.integer(2))
            guard let kind = ChangeKind(rawValue: number) else {
                throw select.damaged("a change of the unknown kind \(number)")
            }
            rows.append(
                ChangeRow(
                    sequence: select.unsigned(0), time: Timestamp(rawValue: select.unsigned(1)),
                    kind: kind, item: ItemNumber(rawValue: select.unsigned(3)),
                    parent: select.isNull(4) ? nil : ItemNumber(rawValue: select.unsigned(4)),
                    name: select.bytes(5), process: Int32(truncatingIfNeeded: select.integer(6)),
                    former: select.isNull(7)
                        ? nil
                        : NamePlace(
                            parent: ItemNumber(rawValue: select.unsigned(7)),
                            name: select.bytes(8) ?? [])))
        }
        return rows
    }

    /// Takes the oldest changes out of the log, at most `limit` of them, in one transaction; the last
    /// `count` stay. Says whether no others have to go.
    @discardableResult
    package func pruneChanges(keeping count: Int, atMost limit: Int = .max) throws(Failure) -> Bool
    {
        guard appliedSequence > UInt64(count) else { return true }
        let before = UInt64(bitPattern: try counter(.pruned))
        let wanted = appliedSequence - UInt64(count)
        guard wanted > before else { return true }
        let last = wanted - before > UInt64(limit) ? before + UInt64(limit) : wanted
        try connection.transaction { () throws(Failure) in
            let delete = try connection.statement("DELETE FROM change WHERE seq <= ?")
            delete.bind(1, last)
            try delete.run()
            try setCounter(.pruned, last)
        }
        return last == wanted
    }

    /// What a log goes on after has room behind it: no container comes near to this.
    private static let largestFound = Int64(largestSequence >> 1)

    /// Says which changes are missing from the log or should not be there; empty if it is whole.
    /// At most 100 lines.
    package func changeLogGaps() throws(Failure) -> [String] {
        let mostLines = 100
        var gaps: [String] = []
        let largest = Self.largestFound
        let pruned = try counter(.pruned)
        if !(0...largest ~= pruned) { gaps.append("it cannot begin after change \(pruned)") }
        if appliedSequence > UInt64(largest) {
            gaps.append("it cannot go to change \(appliedSequence)")
        }
        var next = min(max(pruned, 0), largest) + 1
        let select = try connection.statement("SELECT seq FROM change ORDER BY seq")
        defer { select.reset() }
        while gaps.count < mostLines, try select.step() {
            let sequence = select.integer(0)
            if sequence > largest {
                gaps.append("change \(sequence) cannot be")
                break
            }
            if sequence < next {
                gaps.append("change \(sequence) is in the log, but was taken out before")
                continue
            }
            if sequence > next { gaps.append(Self.gap(from: next, to: sequence - 1)) }
            next = sequence + 1
        }
        if appliedSequence > UInt64(largest) { return gaps }
        let applied = Int64(bitPattern: appliedSequence)
        if gaps.count < mostLines, next <= applied {
            gaps.append(Self.gap(from: next, to: applied))
        } else if next > applied + 1 {
            gaps.append("the log goes on to change \(next - 1), the tables to \(applied)")
        }
        return gaps
    }

    /// Makes the log whole where ``changeLogGaps()`` found it is not, in one transaction: what comes
    /// before the last gap is taken out of it, as if for its age, and so is what cannot be.
    package func closeChangeLogGaps() throws(Failure) {
        let largest = Self.largestFound
        try connection.transaction { () throws(Failure) in
            try connection.execute("DELETE FROM change WHERE seq NOT BETWEEN 1 AND \(largest)")
        }
        let newest = try connection.integer("SELECT max(seq) FROM change")
        let isCounter = appliedSequence <= UInt64(largest)
        let applied = max(newest, isCounter ? Int64(bitPattern: appliedSequence) : 0)
        // The last change whose predecessor is missing begins the log.
        let first = try connection.integer(
            """
            SELECT max(seq) FROM change AS later WHERE NOT EXISTS
                (SELECT 1 FROM change WHERE change.seq = later.seq - 1)
            """)
        let pruned = newest == applied && newest > 0 ? first - 1 : applied
        try connection.transaction { () throws(Failure) in
            let delete = try connection.statement("DELETE FROM change WHERE seq <= ?")
            delete.bind(1, pruned)
            try delete.run()
            try setCounter(.pruned, UInt64(bitPattern: pruned))
            try setCounter(.applied, UInt64(bitPattern: applied))
        }
        appliedSequence = UInt64(bitPattern: applied)
    }

    private static func gap(from first: Int64, to last: Int64) -> String {
        first == last
            ? "change \(first) is missing from the log"
            : "changes \(first) to \(last) are missing from the log"
    }
}
