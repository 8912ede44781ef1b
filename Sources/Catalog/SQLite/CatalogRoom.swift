internal import Glibc
internal import PathText
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

    private let path: String
    // Each is nil as long as it cannot be opened; those that can be stay.
    private var catalog: OwnedDescriptor?
    private var log: OwnedDescriptor?
    private var shared: OwnedDescriptor?
    /// What the catalog's file has, if that is known.
    private var held: Held?

    /// A file that has its blocks up to some place, as long as it is not shortened and made longer again.
    private struct Held: Equatable {
        let bytes: Int64
        let length: off_t
        let blocks: blkcnt_t

        init(_ status: stat, to bytes: Int64) {
            (self.bytes, length, blocks) = (bytes, status.st_size, status.st_blocks)
        }
    }

    /// Makes those of the files of a catalog that are not there and that SQLite would make, where what is allocated
    /// ahead is of use only in files that were made for it.
    static func makeFiles(of path: String, create: Bool) {
        guard create || access(path.cPath, F_OK) == 0 else { return }
        for end in ["", "-wal", "-shm"] { OwnedDescriptor.makeWrittenInPlace(path + end) }
    }

    /// For the catalog at `path`, which is open and has been read or written.
    init(path: String) { self.path = path }

    private func open() {
        if catalog == nil { catalog = try? OwnedDescriptor.open(path, O_RDWR) }
        if log == nil { log = try? OwnedDescriptor.open(path + "-wal", O_RDWR) }
        if shared == nil { shared = try? OwnedDescriptor.open(path + "-shm", O_RDWR) }
    }

    /// Bytes of SQLite's log; 0 if that cannot be asked.
    var logLength: Int64 { (try? log?.status()).map { Int64($0.st_size) } ?? 0 }

    /// Gives the catalog's file its blocks up to `bytes`; `false` if the disk has no room, `nil` if its file
    /// system cannot do that ahead, or it could not be opened.
    ///
    /// The file's length does not tell what it has: after a checkpoint SQLite rounds it up, without blocks for
    /// what it adds.
    func holdCatalog(to bytes: Int64) -> Bool? {
        let bytes = (bytes + Self.chunk - 1) / Self.chunk * Self.chunk
        guard let status = try? catalog?.status() else { return nil }
        let start = held.flatMap { Held(status, to: $0.bytes) == $0 ? $0.bytes : nil } ?? 0
        if start >= bytes { return true }
        held = nil
        do throws(Errno) {
            try catalog?.allocate([], offset: start, length: bytes - start)
            held = (try catalog?.status()).map { Held($0, to: bytes) }
        } catch {
            return error.code == EOPNOTSUPP ? nil : false
        }
        return true
    }

    /// Takes what is missing, as far as the disk has it.
    func hold() {
        open()
        let pages = logLength / 4_096
        let regions = pages / 4_062 + 2
        try? shared?.allocate(.keepSize, offset: 0, length: regions * Self.regionBytes)
        var bytes = Self.logBytes
        while bytes >= Self.logBytes / 4 {
            if (try? log?.allocate(.keepSize, offset: 0, length: bytes)) != nil { return }
            bytes /= 2
        }
    }
}
