internal import Glibc
internal import SystemCalls

/// Disk blocks that SQLite's files beside the catalog have before they need them.
///
/// For the thread that uses the connection. Let go of it only after all connections of this process are
/// closed: closing a descriptor of the shared memory's file drops the locks that SQLite has on it.
final class CatalogRoom {
    /// Of SQLite's log: takes a small transaction, and is used anew after each checkpoint.
    private static let logBytes: Int64 = 1 << 20
    /// SQLite maps its shared memory in regions of this size, each for 4,062 pages of the log. A
    /// page that is mapped and has no block on a full disk would end the process with SIGBUS.
    private static let regionBytes: Int64 = 32 << 10

    private let log: OwnedDescriptor
    private let shared: OwnedDescriptor

    /// For the catalog at `path`, which is open and has been read or written.
    init(path: String) throws(Errno) {
        log = try OwnedDescriptor.open(path + "-wal", O_RDWR)
        shared = try OwnedDescriptor.open(path + "-shm", O_RDWR)
    }

    /// Bytes of SQLite's log; 0 if that cannot be asked.
    var logLength: Int64 { (try? Int64(log.status().st_size)) ?? 0 }

    /// Takes what is missing, as far as the disk has it.
    func hold() {
        let pages = logLength / 4_096
        let regions = pages / 4_062 + 2
        try? shared.allocate(.keepSize, offset: 0, length: regions * Self.regionBytes)
        var bytes = Self.logBytes
        while bytes >= Self.logBytes / 4 {
            if (try? log.allocate(.keepSize, offset: 0, length: bytes)) != nil { return }
            bytes /= 2
        }
    }
}
