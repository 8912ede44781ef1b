internal import Glibc
internal import PathText
package import SystemCalls

/// A claim outside of containers: an flock(2) lock of the item, or of its folder where there is none.
package final class PlainLock {
    /// Which item is locked, and for whom.
    private struct Key: Hashable {
        var purpose: String
        var item: Item

        init(_ purpose: String, _ descriptor: Int32) {
            self.purpose = purpose
            var status = stat()
            _ = fstat(descriptor, &status)
            item = Item(status)
        }
    }

    /// The lock itself, until all that share it are gone.
    private final class Hold: Sendable {
        let file: OwnedDescriptor
        /// Whose lock it is, if it is not this file's own.
        let lent: LentLock?

        init(_ file: consuming OwnedDescriptor, _ lent: LentLock? = nil) {
            self.file = file
            self.lent = lent
        }
    }

    /// The locks of this process that let nobody else in, each with how many share it: what is of the
    /// same purpose does.
    private static let writers = Lock<[Key: (hold: Hold, users: Int)]>([:])

    private let hold: Hold
    /// Of ``hold`` among the ``writers``; `nil` if it only keeps writers out.
    private let key: Key?

    /// Waits for other holders until `deadline` (of the monotonic clock), or until it is cancelled.
    ///
    /// - Parameter purpose: who has a lock to write for the same is not waited for.
    init(
        _ path: String, for purpose: String, writes: Bool, until deadline: UInt64,
        isCancelled: () -> Bool
    ) throws(CoordinationError) {
        attempt: while true {
            if isCancelled() { throw .cancelled }
            var file: OwnedDescriptor
            do throws(Errno) { file = try Self.opened(path) } catch {
                guard error.code == EWOULDBLOCK else { throw .badPath(path, error.description) }
                // In a mount a claim keeps others from opening it, too.
                if MonotonicClock.now >= deadline { throw .timedOut([]) }
                usleep(10_000)
                continue
            }
            let key = Key(purpose, file.number)
            var shared: Hold?
            var lent: LentLock?
            while true {
                do throws(Errno) { if try Self.take(&file, writes: writes) { break } } catch {
                    throw .badPath(path, error.description)
                }
                if isCancelled() { throw .cancelled }
                shared = Self.join(key)
                if shared != nil { break }
                if purpose == FileCoordinator.inheritedPurpose {
                    lent = LentLock.borrow(key.item, until: deadline)
                    if lent != nil { break }
                }
                if MonotonicClock.now >= deadline {
                    throw .timedOut(Self.holders(of: path, inTheWayOfReaders: !writes))
                }
                // A claim may keep a file locked that is the item no more.
                if !Self.isStill(path, file.number) { continue attempt }
                usleep(2_000)
            }
            // Who held it before may have put another file in its place.
            if Self.isStill(path, file.number) {
                if let shared {
                    (hold, self.key) = (shared, key)
                    return
                }
                let own = Hold(file, lent)
                (hold, self.key) = writes ? (Self.join(key, own) ?? own, key) : (own, nil)
                return
            }
            if shared != nil { Self.leave(key) }
            if MonotonicClock.now >= deadline { throw .timedOut([]) }
        }
    }

    /// Why a file cannot be opened to write, whoever tries again.
    private static let unwritable = [EISDIR, EACCES, EPERM, EROFS, ETXTBSY]

    /// Locks an open file at once; false if somebody is in the way.
    ///
    /// Where there are no locks (some network file systems) nobody has one, and nobody is in the way. Where
    /// only who may write can lock others out (NFS), the file is opened so, and is another descriptor then.
    package static func take(
        _ file: inout OwnedDescriptor, writes: Bool
    ) throws(Errno) -> Bool {
        var isWritable = false
        while flock(file.number, (writes ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
            let error = Errno.last
            switch error.code {
            case EWOULDBLOCK, EINTR: return false
            case EBADF where writes && !isWritable:
                // Folders, and what may only be read, have no such locks there.
                do throws(Errno) {
                    file = try OwnedDescriptor.open(
                        "/proc/self/fd/\(file.number)", O_RDWR | O_NONBLOCK)
                } catch {
                    guard Self.unwritable.contains(error.code) else { throw error }
                    return true
                }
                isWritable = true
            case ENOTSUP, ENOSYS, EINVAL, ENOLCK, EBADF: return true
            default: throw error
            }
        }
        return true
    }

    /// A descriptor more of what is locked, which holds the lock if that is its own; `nil` for a lock to
    /// read.
    func duplicate() -> OwnedDescriptor? {
        guard key != nil else { return nil }
        let number = fcntl(hold.file.number, F_DUPFD_CLOEXEC, 0)
        return number < 0 ? nil : OwnedDescriptor(adopting: number)
    }

    /// Has the lock of a file that takes the place of the locked one go over to whose lock it is.
    func handOver(_ file: borrowing OwnedDescriptor) { hold.lent?.handOver(file) }

    deinit { if let key { Self.leave(key) } }

    /// Counts one more who shares a lock to write; `nil` if there is none, and none of their own.
    private static func join(_ key: Key, _ own: Hold? = nil) -> Hold? {
        writers.withLock { writers in
            guard let hold = writers[key]?.hold ?? own else { return nil }
            writers[key] = (hold, (writers[key]?.users ?? 0) + 1)
            return hold
        }
    }

    /// The last who shares it gives it back.
    private static func leave(_ key: Key) {
        writers.withLock { writers in
            guard let (hold, users) = writers[key] else { return }
            writers[key] = users > 1 ? (hold, users - 1) : nil
        }
    }

    private static func opened(_ path: String) throws(Errno) -> OwnedDescriptor {
        do throws(Errno) {
            return try OwnedDescriptor.open(path, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error.code == ENOENT else { throw error }
            return try OwnedDescriptor.open(path.parentPath, O_RDONLY)
        }
    }

    /// An item that has a lock.
    struct Item: Hashable {
        private let device: dev_t
        private let inode: ino_t

        fileprivate init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }

        /// That of an open file.
        init?(of file: borrowing OwnedDescriptor) {
            guard let status = try? file.status() else { return nil }
            self.init(status)
        }

        /// What ``bytes`` made.
        init?(_ bytes: [UInt8]) {
            let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
            guard words.count == 2, let device = dev_t(words[0]), let inode = ino_t(words[1]) else {
                return nil
            }
            (self.device, self.inode) = (device, inode)
        }

        /// It as a message.
        var bytes: [UInt8] { Array("\(device) \(inode)".utf8) }
    }

    /// What is locked for a path: the item, or the folder where there is none; `nil` if that is not there
    /// either.
    static func item(at path: String) -> Item? {
        var status = stat()
        if stat(path.cPath, &status) != 0, stat(path.parentPath.cPath, &status) != 0 { return nil }
        return Item(status)
    }

    /// Whether the path still names what was opened; a folder stands for what is not there yet.
    package static func isStill(_ path: String, _ descriptor: Int32) -> Bool {
        var held = stat()
        var named = stat()
        guard fstat(descriptor, &held) == 0 else { return false }
        guard stat(path.cPath, &named) == 0 else { return held.st_mode & S_IFMT == S_IFDIR }
        return Item(named) == Item(held)
    }
}

extension PlainLock {
    /// Who has locked a file with flock(2), as the kernel lists it; none where that lists other
    /// numbers than stat(2) tells (some network and layered file systems).
    ///
    /// - Parameter isReader: only those that keep readers out.
    static func holders(of path: String, inTheWayOfReaders isReader: Bool = false) -> [Claimant] {
        var status = stat()
        guard stat(path.cPath, &status) == 0, let list = try? text(of: "/proc/locks") else {
            return []
        }
        return list.split(separator: "\n").compactMap { line in
            // "8: FLOCK ADVISORY WRITE 18255 fe:00:1040399 0 EOF"; those who wait have "->" in it.
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE" || !isReader,
                let process = Int(words[4]), isFile(words[5], status)
            else { return nil }
            var command = (try? text(of: "/proc/\(process)/comm")) ?? ""
            while command.hasSuffix("\n") { command.removeLast() }
            return Claimant(
                process: max(process, 0), command: command, kind: .lock, state: .granted, since: 0,
                targets: [FileIntent(path, words[3] == "WRITE" ? .write : .read)])
        }
    }

    /// Whether a file is the one of `major:minor:inode`, the first two in hexadecimal digits.
    private static func isFile(_ word: Substring, _ status: stat) -> Bool {
        let parts = word.split(separator: ":")
        let device = DeviceNumber(UInt64(status.st_dev))
        guard parts.count == 3, let major = UInt64(parts[0], radix: 16),
            let minor = UInt64(parts[1], radix: 16), let inode = UInt64(parts[2])
        else { return false }
        return major == device.major && minor == device.minor && inode == UInt64(status.st_ino)
    }

    private static func text(of path: String) throws(Errno) -> String {
        let file = try OwnedDescriptor.open(path, O_RDONLY)
        return String(decoding: try WholeFile.read(file), as: UTF8.self)
    }
}
