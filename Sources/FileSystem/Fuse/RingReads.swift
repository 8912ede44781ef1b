internal import Content
internal import Coordination
internal import SystemCalls

/// Reads by io_uring(7) past the page cache that ended at the end of a file.
///
/// The kernel takes an answer of less than it asked for one that was cut off, and asks for the rest. But where
/// a file is read past the page cache it has not gone on by then (`fuse_direct_IO` moves a copy of the place),
/// so it asks at the same place again, and the program would have the last bytes twice. What is asked so has
/// been answered: it is known by its thread, which is in io_uring_enter(2) or one of the kernel's for that, its
/// handle, place and size, and comes at once. It is not known where the program asked for more than one request takes.
///
/// Any thread; nothing is waited for.
final class RingReads: Sendable {
    /// What the kernel's threads that read for rings are called.
    private static let worker = "iou-"
    /// The number of io_uring_enter.
    private static let call = "426"
    /// Nanoseconds within which it comes.
    private static let patience: UInt64 = 1_000_000_000
    /// So many threads are looked through for old ones.
    private static let many = 64

    private struct Read: Equatable {
        let handle: UInt64
        let offset: Int64
        let size: Int
    }
    private struct Expected {
        let read: Read
        let end: UInt64
    }
    /// By thread.
    private let expected = Lock<[Int32: Expected]>([:])

    /// Whether a read asks once more for what was answered, so that there is nothing left for it.
    ///
    /// - Parameter size: bytes.
    func isRepeated(_ thread: Int32, _ handle: UInt64, _ offset: Int64, _ size: Int) -> Bool {
        let found = expected.withLock { expected in
            // Whatever it asks for: nothing of it comes later.
            expected.isEmpty ? nil : expected.removeValue(forKey: thread)
        }
        guard let found else { return false }
        return found.read == Read(handle: handle, offset: offset, size: size)
            && MonotonicClock.now < found.end
    }

    /// Before a read is answered.
    ///
    /// - Parameter count: bytes of `size` that it is answered with.
    func note(
        _ thread: Int32, _ handle: UInt64, _ offset: Int64, _ size: Int, answered count: Int
    ) {
        guard count > 0, count < size, thread > 0,
            Processes.systemCall(of: thread) ?? Self.call == Self.call
                || CallerProcess.command(of: thread).hasPrefix(Self.worker)
        else { return }
        let now = MonotonicClock.now
        let rest = Read(handle: handle, offset: offset, size: size - count)
        expected.withLock { expected in
            if expected.count >= Self.many { expected = expected.filter { $0.value.end > now } }
            expected[thread] = Expected(read: rest, end: now + Self.patience)
        }
    }
}

extension FuseSession {
    /// Whether a read has been answered before; then it is once more, with nothing.
    func answerRepeated(
        _ request: Request, _ handle: UInt64, _ size: Int, _ offset: Int64
    ) -> Bool {
        guard ringReads.isRepeated(request.caller.thread, handle, offset, size) else {
            return false
        }
        request.answer([])
        return true
    }

    /// Answers a read: at most `size` bytes from `offset` on.
    func answer(
        _ request: Request, _ handle: Handle, _ size: Int, _ offset: Int64,
        with part: ContentPart?
    ) throws(Errno) {
        if handle.bypassesCache {
            try answerPastCache(request, handle.rawValue, size, offset, with: part)
        } else {
            request.answer(part, from: offset, size)
        }
    }

    /// The same where the kernel keeps nothing of it.
    func answerPastCache(
        _ request: Request, _ handle: UInt64, _ size: Int, _ offset: Int64,
        with part: ContentPart?
    ) throws(Errno) {
        if let count = try part?.count(from: offset, size) {
            ringReads.note(request.caller.thread, handle, offset, size, answered: count)
        }
        request.answer(part, from: offset, size)
    }
}

extension ContentPart {
    /// Bytes of the `size` from `offset` on that there are.
    func count(from offset: Int64, _ size: Int) throws(Errno) -> Int {
        let length =
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .range(let file, _, .max):
                try file.with { (file) throws(Errno) in Int64(try file.status().st_size) }
            case .range(_, _, let length): length
            }
        return Int(min(Int64(size), max(length - offset, 0)))
    }
}
