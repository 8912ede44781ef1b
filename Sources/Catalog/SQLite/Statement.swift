internal import CSQLite
internal import Model

/// A prepared SQL statement. For one thread at a time, as its connection.
///
/// Use: bind every parameter, ``step()`` until it answers `false`, ``reset()`` in a `defer`.
/// Columns are read by position from 0 while on a row; their types are guaranteed by the STRICT
/// tables, and blobs are valid until the next step or reset.
final class Statement {
    /// The database file, for messages and for the fault tests.
    private let path: String
    private let handle: OpaquePointer
    /// The first failure of a bind; reported by the next step, so that binds need no `try`.
    private var bindCode = SQLITE_OK

    init(_ sql: String, database: OpaquePointer, path: String) throws(Failure) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else {
            throw SQLiteFailure.make(code, of: database, path: path)
        }
        self.path = path
        self.handle = handle
    }

    deinit { sqlite3_finalize(handle) }

    /// Whether it has been stepped and neither finished nor been reset.
    var isRunning: Bool { sqlite3_stmt_busy(handle) != 0 }

    // MARK: Running

    /// Goes to the next row; `false` when there is none.
    @inline(__always)
    func step() throws(Failure) -> Bool {
        if bindCode != SQLITE_OK { throw SQLiteFailure.make(bindCode, path: path) }
        if let code = StatementFaults.next(path) {
            throw SQLiteFailure.make(code, path: path)
        }
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    @inline(never)
    private func failure(_ code: Int32) -> Failure {
        guard let database = sqlite3_db_handle(handle) else {
            return SQLiteFailure.make(code, path: path)
        }
        return SQLiteFailure.make(code, of: database, path: path)
    }

    /// Runs a statement of which no rows are wanted, and resets it.
    func run() throws(Failure) {
        defer { reset() }
        while try step() {}
    }

    /// Ready to be bound and stepped again; all parameters become null.
    func reset() {
        // The result repeats the failure of the last step, which step() has thrown.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        bindCode = SQLITE_OK
    }

    // MARK: Parameters, from 1

    func bind(_ index: Int32, _ value: Int64) {
        note(sqlite3_bind_int64(handle, index, value))
    }

    /// Stored as the bit pattern: SQLite has no unsigned integers.
    func bind(_ index: Int32, _ value: UInt64) {
        note(sqlite3_bind_int64(handle, index, Int64(bitPattern: value)))
    }

    func bind(_ index: Int32, _ value: UInt32) {
        note(sqlite3_bind_int64(handle, index, Int64(value)))
    }

    func bind(_ index: Int32, _ value: String) {
        note(sqlite3_bind_text(handle, index, value, -1, Self.copied))
    }

    func bind(_ index: Int32, _ value: UnsafeRawBufferPointer) {
        guard let start = value.baseAddress, !value.isEmpty else {
            // A null pointer would bind NULL; an empty blob is not that.
            note(sqlite3_bind_zeroblob(handle, index, 0))
            return
        }
        note(sqlite3_bind_blob64(handle, index, start, UInt64(value.count), Self.copied))
    }

    func bind(_ index: Int32, _ value: [UInt8]?) {
        guard let value else { return bindNull(index) }
        value.withUnsafeBytes { bind(index, $0) }
    }

    func bind(_ index: Int32, _ value: ContentHash?) {
        guard let value else { return bindNull(index) }
        let words = (
            value.word0.littleEndian, value.word1.littleEndian, value.word2.littleEndian,
            value.word3.littleEndian
        )
        withUnsafeBytes(of: words) { bind(index, $0) }
    }

    func bindNull(_ index: Int32) { note(sqlite3_bind_null(handle, index)) }

    private func note(_ code: Int32) {
        if bindCode == SQLITE_OK { bindCode = code }
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before bind returns.
    private static var copied: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    // MARK: Columns, from 0

    @inline(__always)
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    @inline(__always)
    func unsigned(_ column: Int32) -> UInt64 {
        UInt64(bitPattern: sqlite3_column_int64(handle, column))
    }

    @inline(__always)
    func unsigned32(_ column: Int32) -> UInt32 {
        UInt32(truncatingIfNeeded: sqlite3_column_int64(handle, column))
    }

    @inline(__always)
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func text(_ column: Int32) -> String? {
        sqlite3_column_text(handle, column).map { String(cString: $0) }
    }

    /// Valid until the next step or reset; empty for NULL.
    @inline(__always)
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        // The pointer has to be asked for before the count.
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(
            start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    @inline(__always)
    func bytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : Array(blob(column)) }

    /// A hash column: `nil` for NULL, a failure if it is not 32 bytes.
    @inline(__always)
    func hash(_ column: Int32) throws(Failure) -> ContentHash? {
        let bytes = blob(column)
        if bytes.isEmpty { return nil }
        guard bytes.count == 32 else { throw damaged("a hash of \(bytes.count) bytes") }
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        return ContentHash(word0: word(0), word1: word(8), word2: word(16), word3: word(24))
    }

    /// A place column.
    @inline(__always)
    func place(_ column: Int32) throws(Failure) -> ContentPlace {
        let value = UInt8(truncatingIfNeeded: integer(column))
        guard let place = ContentPlace(rawValue: value) else {
            throw damaged("an unknown place of content, \(value)")
        }
        return place
    }

    /// The failure for a row that SQLite can read and ShapeEdit cannot.
    func damaged(_ what: String) -> Failure {
        Failure(
            .badData,
            "\(path): the catalog holds \(what)")
    }
}
