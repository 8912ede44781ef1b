internal import CSystemShim
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls
internal import Thumbnailing
internal import Varlink

/// Lends the locks of a claim outside of containers to what a command under that claim starts.
///
/// A lock by flock(2) is an open file's, so a program that the command starts would wait for the claim
/// that it runs under; and it saves by putting a new file in the place of the old one, whose lock ends
/// with the program. It asks here instead (``LentLock``): one at a time has a lock, and that of the file
/// that it puts in the place is handed over before the file has the name.
///
/// Listens at an abstract address that cannot be guessed, for programs of the same user and root. A
/// request is an item's numbers, the answer ``yes`` or nothing; then each message brings a file that
/// takes the item's place, and is answered. Closing gives the lock back. Any thread.
final class LockLender: Sendable {
    /// How a program learns the address of who may lend it the locks of its purpose.
    static let variable = "SHAPEEDIT_LOCKS"
    /// What grants a lock.
    static let yes: [UInt8] = [1]
    /// No message is longer, in bytes.
    static let messageLimit = 64
    /// How many may have a lock or wait for one, at once.
    private static let maximalBorrowers = 64

    /// One locked item.
    private struct Held {
        let lock: PlainLock
        /// The files that are the item, or were or will be, all locked.
        var files: [File]
        var isLent = false
    }

    private final class File: Sendable {
        let descriptor: OwnedDescriptor
        let item: PlainLock.Item

        init?(_ descriptor: consuming OwnedDescriptor) {
            guard let item = PlainLock.Item(of: descriptor) else { return nil }
            self.descriptor = descriptor
            self.item = item
        }
    }

    private final class Borrower: Sendable {
        let channel: WorkerChannel

        init(_ socket: consuming OwnedDescriptor) { channel = WorkerChannel(socket) }
    }

    private struct State {
        /// By their paths.
        var held: [PathKey: Held] = [:]
        var borrowers = 0
        var hasEnded = false
    }

    /// What programs that it lends to find in their environment under ``variable``.
    let address: String
    private let listener: OwnedDescriptor
    private let state: Monitor<State>
    private let purpose: String

    /// - Parameters:
    ///   - locks: what it lends, by their paths.
    ///   - purpose: what they are for. What this process runs under for the same it can lend too.
    init(_ locks: [(path: String, lock: PlainLock)], for purpose: String) throws(Errno) {
        let word = (0..<2).map { _ in hexadecimal(UInt64.random(in: .min ... .max)) }.joined()
        address = "@shapeedit-locks-\(word)"
        listener = try UnixSocket.listen(abstract: address)
        self.purpose = purpose
        var state = State()
        for (path, lock) in locks {
            // Names of one item share one lock.
            guard let descriptor = lock.duplicate(), let file = File(descriptor),
                !state.held.values.contains(where: { $0.files[0].item == file.item })
            else { continue }
            state.held[PathKey(path)] = Held(lock: lock, files: [file])
        }
        self.state = Monitor(state)
        Threads.start("locks") { [self] in accept() }
    }

    /// Lends nothing more, and gives its own part of the locks up.
    func end() {
        // Wakes who waits until another gives a lock back.
        state.signal { state in
            state.hasEnded = true
            state.held = [:]
        }
        // Wakes who accepts.
        shutdown(listener.number, Int32(SHUT_RDWR))
    }

    private func accept() {
        while true {
            let number = shim_accept(listener.number)
            if state.withLock({ $0.hasEnded }) {
                if number >= 0 { close(number) }
                return
            }
            if number < 0 {
                // Too many open files, mostly.
                usleep(20_000)
                continue
            }
            let borrower = Borrower(OwnedDescriptor(adopting: number))
            var (process, user) = (Int32(0), UInt32(0))
            guard shim_peer(number, &process, &user) == 0, user == geteuid() || user == 0,
                state.withLock({ $0.borrowers < Self.maximalBorrowers })
            else { continue }
            state.withLock { $0.borrowers += 1 }
            Threads.start("lock") { [self] in
                serve(borrower)
                state.withLock { $0.borrowers -= 1 }
            }
        }
    }

    private func serve(_ borrower: Borrower) {
        guard let request = try? borrower.channel.receive(limit: Self.messageLimit),
            let item = PlainLock.Item(request.message)
        else { return }
        guard let path = lend(item) else {
            // Perhaps it is lent to this process.
            guard purpose == FileCoordinator.inheritedPurpose,
                let lock = LentLock.borrow(item, until: MonotonicClock.after(milliseconds: 10_000))
            else { return }
            serve(borrower) { lock.handOver($0.descriptor) }
            return
        }
        serve(borrower) { file in
            let lock = state.withLock { state in
                state.held[path]?.files.append(file)
                return state.held[path]?.lock
            }
            lock?.handOver(file.descriptor)
        }
        giveBack(path)
    }

    /// Tells that the lock is lent, and takes what comes in the item's place until it is given back.
    private func serve(
        _ borrower: Borrower, _ take: (File) -> Void
    ) {
        guard (try? borrower.channel.send(Self.yes)) != nil else { return }
        while let message = try? borrower.channel.receive(limit: Self.messageLimit),
            let sent = message.descriptor,
            let file = File(OwnedDescriptor(adopting: fcntl(sent, F_DUPFD_CLOEXEC, 0)))
        {
            take(file)
            guard (try? borrower.channel.send(Self.yes)) != nil else { return }
        }
    }

    /// Waits until nobody has the lock of an item; `nil` if it is none of these.
    private func lend(_ item: PlainLock.Item) -> PathKey? {
        state.wait { state -> PathKey?? in
            let found = state.held.first { $0.value.files.contains { $0.item == item } }
            guard let found else { return .some(nil) }
            if found.value.isLent { return nil }
            state.held[found.key]?.isLent = true
            return found.key
        } ?? nil
    }

    /// Of the files that were handed over only the one stays locked that has the name.
    private func giveBack(_ path: PathKey) {
        let now = PlainLock.item(at: path.text)
        state.signal { state in
            guard let held = state.held[path] else { return }
            state.held[path]?.isLent = false
            let current = held.files.filter { $0.item == now }
            // Another program has put its own there, which has no lock.
            if !current.isEmpty { state.held[path]?.files = current }
        }
    }
}
