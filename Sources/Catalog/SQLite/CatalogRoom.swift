internal import Glibc
internal import SystemCalls

/// Disk blocks that the catalog's file and SQLite's files beside it have before they need them.
///
/// For the thread that uses the connection. Let go of it only after all connections of this process are
/// closed: closing a descriptor of a file drops the locks that SQLite has on it.
final class CatalogRoom {
    /// Of SQLite's log: takes a small transaction, and is used anew after each checkpoint.
    private static let logBytes: Int64 = 1 << 20
    /// The catalog's file grows and shrinks in pieces of this many bytes.
    static let chunk: Int64 = 64 << 10
    /// SQLite maps its shared memory in regions of this size, each for 4,062 pages of the log. A
    /// page that is mapped and has no block on a full disk would end the process with SIGBUS.
    private static let regionBytes: Int64 = 32 << 10

    private let catalog: OwnedDescriptor
    private let log: OwnedDescriptor
    private let shared: OwnedDescriptor
    /// What the catalog's file has, if that is known.
    private var held: Held?

    /// A file that has its blocks up to some place, as long as it is not shortened and made longer again.
    private struct Held: Equatable {
        let bytes: Int64
        let length: off_t
        let blocks: blkcnt_t

        init(_ file: borrowing OwnedDescriptor, to bytes: Int64) throws(Errno) {
            let status = try file.status()
            (self.bytes, length, blocks) = (bytes, status.st_size, status.st_blocks)
        }
    }

    /// For the catalog at `path`, which is open and has been read or written.
    init(path: String) throws(Errno) {
        catalog = try OwnedDescriptor.open(path, O_RDWR)
        log = try OwnedDescriptor.open(path + "-wal", O_RDWR)
        shared = try OwnedDescriptor.open(path + "-shm", O_RDWR)
    }

    /// Bytes of SQLite's log; 0 if that cannot be asked.
    var logLength: Int64 { (try? Int64(log.status().st_size)) ?? 0 }

    /// Gives the catalog's file its blocks up to `bytes`; `false` if the disk has no room, `nil` if its file
    /// system cannot do that ahead.
    ///
    /// The file's length does not tell what it has: after a checkpoint SQLite rounds it up, without blocks for
    /// what it adds.
    func holdCatalog(to bytes: Int64) -> Bool? {
        let bytes = (bytes + Self.chunk - 1) / Self.chunk * Self.chunk
        let isKnown = held.map { (try? Held(catalog, to: $0.bytes)) == $0 } ?? false
        let start = isKnown ? held?.bytes ?? 0 : 0
        if start >= bytes { return true }
        held = nil
        do throws(Errno) {
            try catalog.allocate([], offset: start, length: bytes - start)
            held = try Held(catalog, to: bytes)
        } catch {
            return error.code == EOPNOTSUPP ? nil : false
        }
        return true
    }

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
