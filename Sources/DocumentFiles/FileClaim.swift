internal import DocumentKit
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// The sole right to change a document, by its advisory lock (flock): the coordinator's public face
/// inside a mount, and what cooperating programs share outside.
struct FileClaim: ~Copyable {
    let file: OwnedDescriptor
    /// The file lies in a mount of ours: closing publishes what was written, whole.
    let isCoordinated: Bool
    /// What programs that show the document know of this.
    private let told: EditClaim?
    /// Its lock, if that is of the claim that this process runs under.
    private let lent: LentLock?

    /// How long another holder is waited for, in milliseconds.
    static let patience = 10_000

    /// Takes the claim on what `path` names at that moment. Waits for other holders, bounded.
    ///
    /// - Parameters:
    ///   - name: what the caller calls it, for messages.
    ///   - isReader: nothing is to be written, so a document that may only be read will do.
    ///   - isClaimed: the program has a claim on the document already, to put another in its place:
    ///     presenters know of it, and another claim would wait for that one.
    init(
        _ path: String, named name: String, isReader: Bool = false, isClaimed: Bool = false
    ) throws(Failure) {
        let start = MonotonicClock.now
        // Before the lock, which would keep presenters from saving.
        let told = isReader || isClaimed ? nil : EditClaim.ask(for: path)
        let deadline = MonotonicClock.after(milliseconds: UInt64(Self.patience))
        attempt: while true {
            var file: OwnedDescriptor
            // Asked for by path: an open would wait for claims of others, and then another one.
            let container = try? PathAttributes.value("user.shapeedit.container", of: path)
            let isCoordinated = container != nil
            try FoundFile.check(path, named: name)
            do throws(Errno) {
                // There the lock is one of those who write, and closing is what publishes.
                file =
                    isCoordinated
                    ? try Self.writable(path, isReader: isReader)
                    : try OwnedDescriptor.open(path, O_RDONLY)
            } catch {
                // Others have claimed it for longer than an open waits.
                throw error.code == EBUSY
                    ? Self.held(path, named: name, since: start) : Failure(name, error)
            }
            var lent: LentLock?
            while true {
                do throws(Errno) {
                    // In a mount a lock to read would let no version be kept apart.
                    if try PlainLock.take(&file, writes: !isReader || isCoordinated) { break }
                } catch {
                    throw Failure(name, error)
                }
                lent = LentLock.borrow(file, until: deadline)
                if lent != nil { break }
                guard MonotonicClock.now < deadline else {
                    throw Self.held(path, named: name, since: start)
                }
                // A claim may keep a file locked that is the document no more.
                if !PlainLock.isStill(path, file.number) { continue attempt }
                usleep(2_000)
            }
            // Who held it before may have put another file in its place.
            if PlainLock.isStill(path, file.number) {
                self.file = file
                self.isCoordinated = isCoordinated
                self.told = told
                self.lent = lent
                return
            }
            guard MonotonicClock.now < deadline else {
                throw Self.replaced(name)
            }
        }
    }

    /// Has what the document is now kept as a version of its own, however soon something else takes
    /// its place: the mount takes saves in quick succession for one. Nothing outside mounts.
    func keepVersion() throws(Errno) {
        if isCoordinated { try file.instruct("user.shapeedit.apart", "current") }
    }

    /// Has the claim that this process runs under go on with a file that takes the document's place.
    func handOver(_ file: borrowing OwnedDescriptor) { lent?.handOver(file) }

    /// Ends the claim. Where closing publishes what was written, it tells why that could not be done:
    /// the document is what it was before.
    ///
    /// - Parameter name: of the document, for messages.
    consuming func end(_ name: String) throws(Failure) {
        do throws(Errno) { try file.close() } catch { throw Failure(name, error) }
    }

    private static func writable(
        _ path: String, isReader: Bool
    ) throws(Errno) -> OwnedDescriptor {
        do throws(Errno) { return try OwnedDescriptor.open(path, O_RDWR) } catch {
            guard isReader, [EACCES, EPERM, EROFS].contains(error.code) else { throw error }
            return try OwnedDescriptor.open(path, O_RDONLY)
        }
    }

    /// Others wrote to the document, or put another file in its place, whenever this one could be had.
    static func replaced(_ name: String) -> Failure {
        Failure(.temporary, "\(name): others write or replace the file again and again")
    }

    /// Others have had the document since a moment of the monotonic clock, and have it still.
    private static func held(
        _ path: String, named name: String, since start: UInt64
    ) -> Failure {
        let seconds = (MonotonicClock.now - start) / 1_000_000_000
        let holders = FileCoordinator.holders(of: path).map(\.sentence)
        let who =
            holders.isEmpty
            ? "another program has it locked; see who with: lsof \(path)"
            : holders.joined(separator: "; ")
        return Failure(
            .temporary,
            "\(name): it could not be had for itself in \(Count.words(seconds, "second")): \(who)")
    }
}
