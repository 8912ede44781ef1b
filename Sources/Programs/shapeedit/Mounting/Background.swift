import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// Runs a mount in a process of its own, and returns when the folder answers.
///
/// The program starts itself anew with `--daemon`: a fork would leave the child without the
/// threads that the runtime has.
enum Background {
    /// - Parameter signals: if one comes before the folder answers nothing is left of the mount.
    /// - Returns: the daemon's process.
    static func run(_ mount: Mount, _ signals: EndingSignals) throws(Failure) -> pid_t {
        // The daemon looks as well; without devices it could not even be started to say so.
        try Requirements.check()
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(.system, "pipe: \(Errno.last)") }
        let wasMounted = MountTable.isMounted(mount.point)
        let child = try spawn(errors: ends[1])
        close(ends[1])
        let outcome = watch(child, mount.point, errors: ends[0], signals)
        close(ends[0])
        if let failure = outcome {
            // One that had no room for its threads could not start what takes the mount away, either, and one
            // that was told to end may have been about to mount. The mount of an earlier daemon stays:
            // programs would write into the folder below.
            if !wasMounted, MountTable.isMounted(mount.point) {
                let left = MountPoint(path: mount.point)
                if left.isDead { try? left.unmount() }
            }
            throw failure
        }
        return child
    }

    /// Starts this program again with the same arguments and `--daemon`.
    private static func spawn(errors: Int32) throws(Failure) -> pid_t {
        let words = MountArguments.ofDaemon(Array(CommandLine.words.dropFirst()))
        let arguments = Array(CommandLine.words.prefix(1)) + words
        // A session of its own: it outlives the terminal. What its caller has open is not kept for as long.
        var start = ProgramStart(in: .session)
        start.give(nil, as: 0)
        start.give(nil, as: 1)
        start.give(errors, as: Descriptors.error)
        start.closeFrom(Descriptors.error + 1)
        do throws(Errno) { return try start.run("/proc/self/exe", arguments) } catch {
            throw Failure(.system, "the daemon did not start: \(error)")
        }
    }

    /// Waits until the mount is there or the daemon has ended; passes its messages on.
    private static func watch(
        _ child: pid_t, _ point: String, errors: Int32, _ signals: EndingSignals
    ) -> Failure? {
        _ = fcntl(errors, F_SETFL, O_NONBLOCK)
        var messages: [UInt8] = []
        func collect() {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = Glibc.read(errors, &bytes, bytes.count)
                if count <= 0 { return }
                messages += bytes[..<count]
            }
        }
        /// Until when is waited for a daemon that was told to end.
        var end: UInt64?
        while true {
            collect()
            // Who gives up is not surprised by a mount that comes later.
            if end == nil, signals.haveCome {
                end = MonotonicClock.now + 30_000_000_000
                kill(child, SIGTERM)
            }
            if let end, MonotonicClock.now > end {
                return Failure(.temporary, "process \(child) takes long to end")
            }
            var status: Int32 = 0
            if waitpid(child, &status, WNOHANG) == child {
                collect()
                let kind = Failure.Kind(rawValue: status >> 8 & 0xff) ?? .software
                var text = String(decoding: messages, as: UTF8.self)
                while text.hasSuffix("\n") { text.removeLast() }
                // The last line is why it ended; those before it are lines of their own.
                if let end = text.lastIndex(of: "\n") {
                    try? Descriptors.write(Array(text[...end].utf8), to: Descriptors.error)
                    text.removeSubrange(...end)
                }
                if text.hasPrefix("shapeedit: ") { text.removeFirst(11) }
                return Failure(kind, text.isEmpty ? "the daemon ended at once" : text)
            }
            // The mount before, whose daemon is gone, stays until the next can take its place; for a
            // moment between the two it is the folder that is not dead.
            if end == nil, MountTable.isMounted(point), !MountPoint(path: point).isDead,
                MountTable.isMounted(point),
                // Another daemon's came first, and ours is going to say so; stacked they both stay.
                MountTable.server(of: point) ?? child == child
                    || MountTable.count(at: point) > 1
            {
                var status = stat()
                // It ended just now, and is going to be found so.
                if stat(point.cPath, &status) != 0, errno == ENOTCONN {
                    usleep(5_000)
                    continue
                }
                collect()
                let text = String(decoding: messages, as: UTF8.self)
                if !text.isEmpty { _ = text.withCString { Glibc.write(2, $0, strlen($0)) } }
                let problem = answers(point)
                if problem == nil, signals.haveCome { continue }
                return problem
            }
            usleep(5_000)
        }
    }

    private static func answers(_ point: String) -> Failure? {
        var status = stat()
        if stat(point.cPath, &status) == 0 { return nil }
        return Failure(.unavailable, "\(point) is mounted but does not answer: \(Errno.last)")
    }
}
