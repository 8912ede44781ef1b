internal import Glibc

/// What the kernel tells of processes.
package enum Processes {
    /// Sees to it that the end of what this program starts can be waited for, also where its caller waits for
    /// nothing: with an ignored SIGCHLD, which programs inherit, the kernel forgets how it was. Before anything
    /// is started.
    package static func keepEnds() { signal(SIGCHLD, SIG_DFL) }

    /// Whether a process is gone, or its first thread is dead: others of it may be at work still.
    package static func isDead(_ process: Int32) -> Bool {
        guard let state = state(of: process) else { return kill(process, 0) != 0 && errno == ESRCH }
        return state.letter == "Z" || state.letter == "X"
    }

    /// Whether a process is gone with all its threads, and so with all that it had open.
    package static func hasEnded(_ process: Int32) -> Bool {
        guard let fields = fields(of: process) else {
            return kill(process, 0) != 0 && errno == ESRCH
        }
        // A zombie that nobody has waited for yet counts itself.
        return fields.count > 17 && (fields[0] == "Z" || fields[0] == "X")
            && Int(fields[17]) ?? 0 <= 1
    }

    /// Its state, as ps(1) shows it, its parent, and when it began, in ticks since the machine did; `nil` if
    /// it is gone or cannot be seen.
    package static func state(of process: Int32) -> (
        letter: Character, parent: Int32, start: UInt64
    )? {
        guard let fields = fields(of: process) else { return nil }
        guard fields.count > 19, let letter = fields[0].first, let parent = Int32(fields[1]),
            let start = UInt64(fields[19])
        else { return nil }
        return (letter, parent, start)
    }

    /// Whether a thread is gone, or is about to be: nothing takes a SIGKILL back that is pending, though the
    /// thread may still be in the middle of a system call.
    package static func isEnding(_ thread: Int32) -> Bool {
        guard let fields = fields(of: thread) else { return kill(thread, 0) != 0 && errno == ESRCH }
        guard fields.count > 28, let flags = UInt64(fields[6]), let pending = UInt64(fields[28])
        else { return false }
        let isExiting: UInt64 = 4
        return fields[0] == "Z" || fields[0] == "X" || flags & isExiting != 0
            || pending & 1 << UInt64(SIGKILL - 1) != 0
    }

    /// Whether a thread of this process waits for the kernel in a way that no signal ends, as for the lock of a
    /// directory; `nil` if it is gone or cannot be seen.
    package static func isStuck(ownThread thread: Int32) -> Bool? {
        // Not by its number alone, which is another's where /proc is that of another namespace.
        fields(of: "self/task/\(thread)").map { $0.first == "D" }
    }

    private static func fields(of thread: Int32) -> [Substring]? { fields(of: String(thread)) }

    /// What the kernel tells of a thread in `stat`, from its state on; `nil` if it is gone or cannot be seen.
    private static func fields(of thread: String) -> [Substring]? {
        guard let file = try? OwnedDescriptor.open("/proc/\(thread)/stat", O_RDONLY) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = (try? file.read(into: &bytes, at: 0)) ?? 0
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        // The name in the second field may hold anything, so what counts is behind the last bracket.
        guard let bracket = text.lastIndex(of: ")") else { return nil }
        return text[text.index(after: bracket)...].split(separator: " ")
    }

    /// The number of the system call in which a thread waits; another text if it is in none, `nil` if it is gone
    /// or does not show that.
    package static func systemCall(of thread: Int32) -> String? {
        guard let file = try? OwnedDescriptor.open("/proc/\(thread)/syscall", O_RDONLY) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 32)
        guard let count = try? file.read(into: &bytes, at: 0) else { return nil }
        return String(
            decoding: bytes[..<count].prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
    }

    /// A field of what the kernel tells of a thread; `nil` if it is gone or cannot be seen.
    static func status(of thread: String, _ name: String) -> String? {
        guard let file = try? OwnedDescriptor.open("/proc/\(thread)/status", O_RDONLY) else {
            return nil
        }
        // In front of the capabilities there can be 65,536 groups of ten digits.
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                (try? file.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]), at: Int64(count)))
                    ?? 0
            }
            if more == 0 { break }
            count += more
        }
        for line in bytes[..<count].split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix(name + ":\t") { return String(text.dropFirst(name.utf8.count + 2)) }
        }
        return nil
    }
}
