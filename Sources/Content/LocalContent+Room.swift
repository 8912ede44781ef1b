internal import Glibc
package import Model
internal import PathText
package import SystemCalls

/// Room on the disk that holds the container.
extension LocalContent {
    /// Bytes of the reserve, and the least it is of use with.
    private static let reserveSize: Int64 = 2 << 20
    private static let leastReserve: Int64 = 512 << 10
    /// With less free on the disk, opening the catalog may need the reserve.
    private static let nearlyFull: UInt64 = 16 << 20
    /// With less than this it cannot be opened.
    private static let leastToOpen: UInt64 = 128 << 10

    /// Takes the reserve, if it is not held, as far as the disk has room.
    package func holdReserve() {
        guard let file = try? OwnedDescriptor.openOwn(folder.reserve, O_RDWR),
            let status = try? file.status()
        else { return }
        var size = Self.reserveSize
        while size >= Self.leastReserve, size > Int64(status.st_size) {
            if (try? file.allocate([], offset: 0, length: size)) != nil { return }
            // A failed try may have taken something.
            ftruncate(file.number, status.st_size)
            size /= 2
        }
    }

    /// Gives the reserve up if the disk is nearly full: the files that SQLite makes when the catalog
    /// is opened take some room, and so does recovery. Fails if that is not enough, and
    /// if this process may make no files so long.
    package func makeRoomToOpen() throws(Failure) {
        try folder.checkLongestFile()
        if let free = freeBytes, free < Self.nearlyFull, !OddFile.isAt(folder.reserve) {
            truncate(folder.reserve.cPath, 0)
        }
        // On a disk with small blocks SQLite would not see that its shared memory has none, and
        // touching it would end the process.
        if let free = freeBytes, free < Self.leastToOpen,
            access((folder.catalog + "-shm").cPath, F_OK) != 0
        {
            throw Failure(
                .inputOutput,
                "\(folder.path): the disk is full, and opening a container takes "
                    + "\(Self.leastToOpen >> 10) KiB; free some space on it",
                isDiskFull: true)
        }
    }

    /// What this process could write; root also what is kept for root.
    private var freeBytes: UInt64? {
        var status = statvfs()
        guard statvfs(folder.path.cPath, &status) == 0 else { return nil }
        var blocks = status.f_bavail
        if geteuid() == 0 {
            // ext4 keeps some from root too, and does not tell: a fiftieth, at most 4,096 blocks.
            let kept = min(status.f_blocks / 50 + 1, 4_096)
            blocks = max(blocks, status.f_bfree - min(status.f_bfree, kept))
        }
        return Self.bytes(blocks, of: status.f_frsize)
    }

    /// Network file systems without bounds tell numbers that no disk has.
    private static func bytes(_ blocks: UInt, of size: UInt) -> UInt64 {
        let (bytes, isTooMuch) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(size))
        return isTooMuch ? UInt64(Int64.max) : min(bytes, UInt64(Int64.max))
    }

    /// With this much free, nothing fills the disk within the time that ``hasAmpleRoom`` is
    /// remembered, in bytes and nanoseconds.
    private static let ample: (bytes: UInt64, time: UInt64) = (1 << 30, 50_000_000)

    /// Whether there is so much room that nobody has to look closer. Costs next to nothing.
    package var hasAmpleRoom: Bool {
        let now = MonotonicClock.now
        if ampleUntil.withLock({ $0 > now }) { return true }
        guard let space = try? space(), space.free > Self.ample.bytes else { return false }
        ampleUntil.withLock { $0 = now + Self.ample.time }
        return true
    }

    /// Bytes that are free for what grows; none while the room is not held that opening the container takes. Costs
    /// next to nothing where they are many.
    package var roomToGrow: UInt64 {
        if hasAmpleRoom { return .max }
        let free = freeBytes ?? .max
        return free < Self.reserveSize && !holdsReserve ? 0 : free
    }

    private var holdsReserve: Bool {
        var status = stat()
        return stat(folder.reserve.cPath, &status) == 0 && status.st_size >= Self.leastReserve
    }

    /// Bytes free for this user and in all on the disk that holds the container.
    package func space() throws(Errno) -> (free: UInt64, total: UInt64) {
        var status = statvfs()
        try check { statvfs(folder.path.cPath, &status) }
        return (
            Self.bytes(status.f_bavail, of: status.f_frsize),
            Self.bytes(status.f_blocks, of: status.f_frsize)
        )
    }
}
