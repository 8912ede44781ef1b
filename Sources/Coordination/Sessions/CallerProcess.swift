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

    private static func group(of thread: Int32) -> Int32? {
        guard let file = try? OwnedDescriptor.open("/proc/\(thread)/status", O_RDONLY) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        for line in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        where line.hasPrefix("Tgid:") {
            return Int32(line.dropFirst(5).drop { $0 == "\t" || $0 == " " })
        }
        return nil
    }
}
