internal import CSystemShim
internal import Glibc
internal import SystemCalls

/// Which process a kernel request comes from. Requests carry the thread's id.
package enum CallerProcess {
    /// The process that `thread` belongs to; `thread` itself if it has gone meanwhile; 0 for 0,
    /// which is what a caller outside the daemon's pid namespace has.
    package static func process(of thread: Int32) -> Int32 {
        if thread <= 0 { return 0 }
        // Most callers are the first thread of their process, and this costs one system call.
        if shim_probe_leader(thread) == 0 || errno != ESRCH { return thread }
        return group(of: thread) ?? thread
    }

    /// Whether a thread runs in the background of everything else, as indexers and backups do: it is nicer
    /// than `nice` alone makes a command. One system call.
    package static func isBackground(_ thread: Int32) -> Bool {
        let which = __priority_which_t(PRIO_PROCESS.rawValue)
        return thread > 0 && getpriority(which, id_t(thread)) > 10
    }

    /// Whether a thread waits in a system call that reads, for pages that the kernel has asked for and for
    /// which it hears no signal but fatal ones. False if that cannot be known, and for a page fault.
    package static func isDeafReader(_ thread: Int32) -> Bool {
        guard thread > 0, Processes.state(of: thread)?.letter == "D" else { return false }
        // Its number, or -1 in a page fault. The daemon may not see that of every process.
        let call = read("/proc/\(thread)/syscall").prefix { $0 != " " }
        return Int(call).map { shim_is_read($0) != 0 } ?? false
    }

    /// The program and the process of a thread, for a person; `nil` if it is not there any more.
    package static func describe(_ thread: Int32) -> String? {
        guard thread > 0, let process = group(of: thread) else { return nil }
        let name = command(of: process)
        return name.isEmpty ? nil : "\(name) (process \(process))"
    }

    private static func group(of thread: Int32) -> Int32? {
        status(of: thread, "Tgid").flatMap { Int32($0) }
    }

    /// A field of what the kernel tells of a thread.
    private static func status(of thread: Int32, _ name: String) -> String? {
        for line in read("/proc/\(thread)/status").split(separator: "\n")
        where line.hasPrefix(name + ":") {
            return String(line.dropFirst(name.utf8.count + 1).drop { $0 == "\t" || $0 == " " })
        }
        return nil
    }

    /// Nothing has so many processes above it that matter.
    static let deepest = 64

    /// The process, its parent, grandparent and so on, as far as they can be seen.
    package static func family(of process: Int32) -> [Int32] {
        var family: [Int32] = []
        var next = process
        while next > 0, family.count < deepest, !family.contains(next) {
            family.append(next)
            guard let parent = parent(of: next) else { break }
            next = parent
        }
        return family
    }

    /// The name of the process's program, for people; empty if it has gone.
    package static func command(of process: Int32) -> String {
        var text = read("/proc/\(process)/comm")
        while text.hasSuffix("\n") { text.removeLast() }
        return text
    }

    /// Who started a process; `nil` if it is gone or cannot be seen.
    static func parent(of process: Int32) -> Int32? {
        Processes.state(of: process)?.parent
    }

    private static func read(_ path: String) -> String {
        guard let file = try? OwnedDescriptor.open(path, O_RDONLY) else { return "" }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = (try? file.read(into: &bytes, at: 0)) ?? 0
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
