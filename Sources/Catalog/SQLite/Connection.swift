internal import CSQLite
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// A connection to a SQLite database, with its prepared statements. For one thread at a time:
/// SQLite's own mutexes are off.
final class Connection {
    /// The file, as it was given; messages name it.
    let path: String

    private var database: OpaquePointer?
    /// Prepared statements by their SQL. Bounded by the number of statements in this module.
    private var statements: [String: Statement] = [:]

    /// In place of a file: a database that is gone when it is closed.
    static let memory = ":memory:"

    /// Opens the file; makes it if it does not exist and `create` is set. With `isUnchanging` the file is taken
    /// for one that nobody writes to, and nothing is made beside it.
    init(
        path: String, create: Bool, busyMilliseconds: Int32, isUnchanging: Bool = false
    ) throws(Failure) {
        self.path = path
        if path != Self.memory { try Self.checkKinds(path) }
        let flags =
            (isUnchanging ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE)
            | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (create ? SQLITE_OPEN_CREATE : 0)
        let address = isUnchanging ? "file:\(Self.escaped(path))?immutable=1" : path
        let code = sqlite3_open_v2(address.cPath, &database, flags, nil)
        guard code == SQLITE_OK else {
            defer { close() }
            throw openFailure(code, create: create)
        }
        sqlite3_busy_timeout(database, busyMilliseconds)
    }

    /// A path in an address that SQLite reads.
    private static func escaped(_ path: String) -> String {
        path.pathBytes.map { "%" + Hexadecimal.text([$0]) }.joined()
    }

    /// Whether nothing was left beside the file, and nothing can be made there: SQLite could not read it
    /// otherwise.
    static func isUnchanging(_ path: String) -> Bool {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        return access(folder.cPath, W_OK) != 0
            && ["-wal", "-shm"].allSatisfy { access((path + $0).cPath, F_OK) != 0 }
    }

    /// Fails for a pipe or a folder in the place of a file, which SQLite would name by a number.
    private static func checkKinds(_ path: String) throws(Failure) {
        for end in ["", "-wal", "-shm"] where OddFile.isAt(path + end) {
            throw Failure(
                .inputOutput,
                "\(path)\(end) is no file: put the file back that belongs there"
                    + (end.isEmpty ? "" : ", or remove what is there now"))
        }
    }

    /// Fails where one of the database's files may not be written. SQLite would give those that it makes
    /// beside the catalog the catalog's rights, and they would be in the way when that has got others.
    static func checkWritable(_ path: String) throws(Failure) {
        for end in ["", "-wal", "-shm"] where access((path + end).cPath, F_OK) == 0 {
            if access((path + end).cPath, R_OK | W_OK) == 0 { continue }
            throw SQLiteFailure.make(SQLITE_READONLY, path: path + end)
        }
    }

    deinit { close() }

    /// Finalizes all statements and closes the file; nothing else may be called afterwards.
    /// Without effect the second time.
    func close() {
        statements = [:]
        guard let open = database else { return }
        // A statement can outlive this only inside a row callback; close_v2 then waits for it.
        sqlite3_close_v2(open)
        database = nil
    }

    /// The statement for `sql`, prepared once. Reset it after use.
    func statement(_ sql: String) throws(Failure) -> Statement {
        // A row callback may run the very statement whose row it is being shown.
        if let known = statements[sql], !known.isRunning { return known }
        guard let database else { throw SQLiteFailure.make(SQLITE_MISUSE, path: path) }
        let made = try Statement(sql, database: database, path: path)
        if statements[sql] == nil { statements[sql] = made }
        return made
    }

    /// Runs one statement that has neither parameters nor rows of interest.
    func execute(_ sql: String) throws(Failure) { try statement(sql).run() }

    /// The first column of the first row, as an integer; 0 if there is no row.
    func integer(_ sql: String) throws(Failure) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    /// The first column of the first row, as text; empty if there is no row.
    func text(_ sql: String) throws(Failure) -> String {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.text(0) ?? "" : ""
    }

    /// Runs `body` in one transaction; if it throws, or the commit does, nothing has happened.
    func transaction<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        rollBack()
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs `body` in one transaction, and undoes that.
    func supposing<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        rollBack()
        try execute("BEGIN IMMEDIATE")
        defer { rollBack() }
        return try body()
    }

    /// The file grows and shrinks in pieces of this many bytes.
    func setChunk(_ bytes: Int32) {
        var bytes = bytes
        sqlite3_file_control(database, "main", SQLITE_FCNTL_CHUNK_SIZE, &bytes)
    }

    /// Allocates the file up to `bytes`, if it is shorter; `false` if the disk has no room.
    func extendFile(to bytes: Int64) -> Bool {
        var bytes = bytes
        return sqlite3_file_control(database, "main", SQLITE_FCNTL_SIZE_HINT, &bytes) == SQLITE_OK
    }

    /// Ends a transaction that is still open. SQLite ends it by itself after some errors (full
    /// disk, I/O), and a ROLLBACK would then be an error of its own.
    private func rollBack() {
        guard let database, sqlite3_get_autocommit(database) == 0 else { return }
        // Not through a statement: this must not fail because the memory or a test says so. If it
        // fails all the same, the next transaction tries it again before it begins.
        sqlite3_exec(database, "ROLLBACK", nil, nil, nil)
    }

    /// SQLite says "unable to open" for every reason; the system knows which it was.
    private func openFailure(_ code: Int32, create: Bool) -> Failure {
        let reason = database.map { sqlite3_system_errno($0) } ?? 0
        guard code & 0xff == SQLITE_CANTOPEN, reason != 0 else {
            return SQLiteFailure.make(code, path: path)
        }
        let kind: Failure.Kind =
            switch reason {
            case EACCES, EPERM, EROFS: .noPermission
            case EMFILE, ENFILE, ENOMEM: .system
            default: create ? .cannotCreate : .noInput
            }
        return Failure(
            kind, "\(path): cannot open the catalog: \(String(cString: strerror(reason)))")
    }
}
