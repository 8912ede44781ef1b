package import Model

/// The catalog of a container on disk: a SQLite database that mutations are applied to in batches.
///
/// Not `Sendable`, and used by one thread at a time: its owner sees to that. A commit here survives
/// the death of the daemon, not a power cut; ``checkpoint()`` makes all commits durable. Between
/// checkpoints the journal is what makes a mutation durable. Any call can fail as SQLite can; after
/// a failure the tables are as they were before the call.
package final class CatalogDatabase {
    let connection: Connection
    /// Whether ``holdRoom()`` was called, and what it holds.
    var holdsRoom = false
    var hasReserve = false
    var room: CatalogRoom?

    /// The file, as it was given; messages name it.
    package var path: String { connection.path }
    /// The sequence of the last change in the tables; 0 in a new catalog.
    package internal(set) var appliedSequence: ChangeSequence = 0
    /// The key of what the catalog remembers of its last closing, for who compares its file with what that was
    /// then.
    package static let closing = "closing"
    /// No change has a higher one: a counter beyond it is damaged.
    package static let largestSequence: ChangeSequence = 1 << 62
    /// The highest item number and document identity ever put in, removed ones included; new
    /// numbers start above. Never decreases.
    package internal(set) var highestNumber: UInt64 = 0

    /// Opens the catalog at `path`; migrates an older one.
    ///
    /// With `create`, a missing or empty file becomes a new catalog. Fails with `.noInput` if the
    /// file is missing, `.badData` if it is damaged or not a catalog, `.configuration` if a newer
    /// ShapeEdit made it. A call waits at most `busyMilliseconds` for another process that has the
    /// catalog locked: nobody but a check should, and that does not take long.
    package init(
        path: String, create: Bool, busyMilliseconds: Int32 = 5_000
    ) throws(Failure) {
        try Connection.checkWritable(path)
        CatalogRoom.makeFiles(of: path, create: create)
        connection = try Connection(
            path: path, create: create, busyMilliseconds: busyMilliseconds)
        // First, as it refuses files that are not ours, before anything is written to them.
        try Schema.prepare(connection, create: create)
        try Self.configure(connection)
        appliedSequence = UInt64(bitPattern: try counter(.applied))
        highestNumber = UInt64(bitPattern: try counter(.highest))
    }

    /// Opens the catalog at `path`, which may be of a container that another process has open, only to
    /// look at it: an older one stays as it is, since a program of its age would not know what it has
    /// become. What it does not have fails. It may lie where nothing can be written. Else as the other one.
    package init(lookingAt path: String, busyMilliseconds: Int32) throws(Failure) {
        connection = try Connection(
            path: path, create: false, busyMilliseconds: busyMilliseconds,
            isUnchanging: Connection.isUnchanging(path))
        try Schema.check(connection, create: false)
        try Self.set("query_only", "ON", reads: 1, on: connection)
    }

    /// Closes the file. Nothing else but ``releaseRoom()`` may be called afterwards; without effect the
    /// second time.
    package func close() { connection.close() }

    /// Gives the disk back what ``holdRoom()`` took, after ``close()`` and after all other connections of this
    /// process to the file are closed.
    ///
    /// They would lose their locks with it: whoever opens the file then believes to be alone and cuts SQLite's
    /// shared memory off, and its next use ends this process by SIGBUS.
    package func releaseRoom() { room = nil }

    deinit { close() }

    // MARK: Settings of the connection

    /// A page cache of 8 MiB: the hot pages of a million items' trees. The memory index answers
    /// reads, so more would only be memory.
    private static let cacheKibibytes: Int64 = 8 * 1024
    /// The log of SQLite shrinks to 4 MiB when it starts over.
    private static let logBytes: Int64 = 4 * 1024 * 1024

    private static func configure(_ connection: Connection) throws(Failure) {
        guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw Failure(
                .unavailable,
                "\(connection.path): SQLite cannot use its WAL mode on this file system")
        }
        // NORMAL (1): commits do not wait for the disk, checkpoints do.
        try set("synchronous", "NORMAL", reads: 1, on: connection)
        try set("foreign_keys", "OFF", reads: 0, on: connection)
        try set("cache_size", "-\(cacheKibibytes)", reads: -cacheKibibytes, on: connection)
        try set("temp_store", "MEMORY", reads: 2, on: connection)
        // A checkpoint syncs: it belongs to the thread that decides about durability, and never
        // to a commit.
        try set("wal_autocheckpoint", "0", reads: 0, on: connection)
        try set("journal_size_limit", "\(logBytes)", reads: logBytes, on: connection)
    }

    private static func set(
        _ pragma: String, _ value: String, reads expected: Int64, on connection: Connection
    ) throws(Failure) {
        try connection.execute("PRAGMA \(pragma) = \(value)")
        let actual = try connection.integer("PRAGMA \(pragma)")
        guard actual == expected else {
            throw Failure(
                .software,
                "\(connection.path): SQLite answers \(actual) for \(pragma), not \(expected)")
        }
    }
}
