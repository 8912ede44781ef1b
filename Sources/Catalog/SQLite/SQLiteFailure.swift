internal import CSQLite
internal import Glibc
internal import Model
internal import SystemCalls

/// How a SQLite error reads to a person.
enum SQLiteFailure {
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
    /// And that a quota is used up it takes for an error of the disk.
    static func make(_ code: Int32, of database: OpaquePointer, path: String) -> Failure {
        let errors = systemErrors(of: database)
        switch code & 0xff {
        case SQLITE_IOERR where errors.contains(EDQUOT) && !reads.contains(code):
            return Failure(
                .inputOutput,
                "\(path): the quota of the disk is used up (SQLite error \(code)); free some space on it",
                isDiskFull: true)
        case SQLITE_CORRUPT:
            // Those for which SQLite does not say that it is the disk's.
            if let error = errors.first(where: { [EIO, ENXIO, ERANGE].contains($0) }) {
                return Failure(.inputOutput, "\(path): it cannot be read: \(Errno(error))")
            }
        default: break
        }
        return make(code, String(cString: sqlite3_errmsg(database)), path: path)
    }

    /// Failures to read. What was said of a write that failed before is not about them.
    private static let reads = [1, 2, 33].map { SQLITE_IOERR | $0 << 8 }

    /// What the system said when a call on the catalog's file and on its log failed last; 0 if none has. A
    /// connection keeps none for a commit that fails.
    private static func systemErrors(of database: OpaquePointer) -> [Int32] {
        var errors: [Int32] = [0, 0]
        sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &errors[0])
        var log: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        if let log, let methods = log.pointee.pMethods {
            _ = methods.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &errors[1])
        }
        return errors
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
