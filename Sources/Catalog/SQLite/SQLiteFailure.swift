internal import CSQLite
internal import Glibc
internal import Model
internal import SystemCalls

/// How a SQLite error reads to a person.
enum SQLiteFailure {
    /// For what `database` has just said. That a quota is used up SQLite takes for an error of the disk.
    static func make(_ code: Int32, of database: OpaquePointer, path: String) -> Failure {
        if code & 0xff == SQLITE_IOERR, isQuotaUsedUp(in: database) {
            return Failure(
                .inputOutput,
                "\(path): the quota of the disk is used up (SQLite error \(code)); free some space on it",
                isDiskFull: true)
        }
        return make(code, String(cString: sqlite3_errmsg(database)), path: path)
    }

    /// Whether that is why the last write of the file or its log failed that has. SQLite keeps no errno for a
    /// commit that fails.
    private static func isQuotaUsedUp(in database: OpaquePointer) -> Bool {
        var code: Int32 = 0
        sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &code)
        if code == EDQUOT { return true }
        var log: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard let log, let control = log.pointee.pMethods?.pointee.xFileControl else {
            return false
        }
        return control(log, SQLITE_FCNTL_LAST_ERRNO, &code) == SQLITE_OK && code == EDQUOT
    }

    /// For a SQLite result code, extended or not, that SQLite explains with `message`.
    static func make(_ code: Int32, _ message: String, path: String) -> Failure {
        if code & 0xff == SQLITE_FULL || code == shared {
            return Failure(
                .inputOutput,
                "\(path): the disk is full (SQLite error \(code)); free some space on it",
                isDiskFull: true)
        }
        let (kind, advice) = meaning(of: code & 0xff)
        return Failure(
            kind, "\(path): \(message) (SQLite error \(code))\(advice)")
    }

    /// For the result code of the last call of a connection.
    ///
    /// SQLite calls it damage, too, where the disk could not be read: who believes that repairs what is sound.
    static func make(_ code: Int32, of database: OpaquePointer, path: String) -> Failure {
        if code & 0xff == SQLITE_CORRUPT, let error = readError(of: database) {
            return Failure(.inputOutput, "\(path): it cannot be read: \(error)")
        }
        return make(code, String(cString: sqlite3_errmsg(database)), path: path)
    }

    /// What the system said when the catalog's file or its log could not be read; `nil` if it said nothing.
    private static func readError(of database: OpaquePointer) -> Errno? {
        var errors: [Int32] = [0, 0]
        sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &errors[0])
        var log: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        if let log, let methods = log.pointee.pMethods {
            _ = methods.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &errors[1])
        }
        // Those for which SQLite does not say that it is the disk's.
        return errors.first { [EIO, ENXIO, ERANGE].contains($0) }.map(Errno.init)
    }

    /// The memory that connections share, a file beside the catalog, could not be made larger.
    private static let shared: Int32 = SQLITE_IOERR | 19 << 8

    static func make(_ code: Int32, path: String) -> Failure {
        make(code, String(cString: sqlite3_errstr(code)), path: path)
    }

    /// As when SQLite finds no room.
    static func full(path: String) -> Failure { make(SQLITE_FULL, path: path) }

    private static func meaning(of code: Int32) -> (Failure.Kind, String) {
        switch code {
        case SQLITE_NOTADB, SQLITE_CORRUPT: (.badData, "")
        case SQLITE_IOERR: (.inputOutput, "")
        case SQLITE_BUSY, SQLITE_LOCKED: (.temporary, "; another program is using the catalog")
        case SQLITE_CANTOPEN: (.noInput, "")
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            (.noPermission, "; make the file and the folder it is in writable for you")
        case SQLITE_NOMEM: (.system, "")
        default: (.software, "")
        }
    }
}
