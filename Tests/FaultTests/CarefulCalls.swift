import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// A system call of an agent that failed, which is no issue of the test by itself.
struct CallFailure: Error, CustomStringConvertible {
    /// Its name.
    let call: String
    /// Its errno.
    let error: Int32

    var description: String { "\(call): \(errorName(error))" }
}

/// An agent's system calls for those who expect that any of them may fail.
struct CarefulCalls {
    private let agent: Agent

    init(_ agent: Agent) {
        self.agent = agent
    }

    func open(_ path: String, _ flags: Int32) throws(CallFailure) -> Int {
        try call(
            "open", SYS_openat,
            .integer(Int(AT_FDCWD)), .input(Array(path.utf8)), .integer(Int(flags)),
            .integer(0o644)
        ).result
    }

    func close(_ descriptor: Int) throws(CallFailure) {
        try call("close", SYS_close, .integer(descriptor))
    }

    /// All that the agent has open, whatever that says.
    func closeAll() {
        for descriptor in 3..<10 { try? close(descriptor) }
    }

    func write(_ descriptor: Int, _ bytes: [UInt8]) throws(CallFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try call(
                "write", SYS_write, .integer(descriptor), .input(Array(rest)),
                .integer(rest.count)
            ).result
            rest = rest.dropFirst(count)
        }
    }

    func truncate(_ descriptor: Int, _ size: Int) throws(CallFailure) {
        try call("ftruncate", SYS_ftruncate, .integer(descriptor), .integer(size))
    }

    func synchronize(_ descriptor: Int) throws(CallFailure) {
        try call("fsync", SYS_fsync, .integer(descriptor))
    }

    func rename(_ from: String, _ to: String) throws(CallFailure) {
        try call(
            "rename", SYS_renameat2,
            .integer(Int(AT_FDCWD)), .input(Array(from.utf8)), .integer(Int(AT_FDCWD)),
            .input(Array(to.utf8)), .integer(0))
    }

    /// Removes a file, which need not exist.
    func remove(_ path: String) throws(CallFailure) {
        do {
            try call(
                "unlink", SYS_unlinkat, .integer(Int(AT_FDCWD)), .input(Array(path.utf8)),
                .integer(0))
        } catch  where error.error == ENOENT {}
    }

    // MARK: Mappings

    func map(_ descriptor: Int, _ length: Int) throws(CallFailure) -> Int {
        try call(
            "mmap", SYS_mmap, .integer(0), .integer(length),
            .integer(Int(PROT_READ | PROT_WRITE)), .integer(Int(MAP_SHARED)),
            .integer(descriptor), .integer(0)
        ).result
    }

    func unmap(_ address: Int, _ length: Int) {
        _ = try? call("munmap", SYS_munmap, .integer(address), .integer(length))
    }

    func synchronize(_ address: Int, _ length: Int) throws(CallFailure) {
        try call("msync", SYS_msync, .integer(address), .integer(length), .integer(Int(MS_SYNC)))
    }

    /// Reads from the file's start into memory of the agent.
    func read(_ descriptor: Int, count: Int, to address: Int) throws(CallFailure) {
        var done = 0
        while done < count {
            done += try call(
                "read into a mapping", SYS_pread64, .integer(descriptor),
                .integer(address + done), .integer(count - done), .integer(done)
            ).result
        }
    }

    // MARK: Whole files

    /// A file's content; nil if there is none.
    func content(_ path: String) -> Result<[UInt8]?, CallFailure> {
        do {
            let descriptor = try open(path, O_RDONLY)
            defer { try? close(descriptor) }
            var content: [UInt8] = []
            while true {
                let reply = try call(
                    "read", SYS_read, .integer(descriptor), .output(1 << 20), .integer(1 << 20))
                if reply.result == 0 { return .success(content) }
                content += (reply.buffers.first ?? []).prefix(reply.result)
            }
        } catch {
            return error.call == "open" && error.error == ENOENT
                ? .success(nil) : .failure(error)
        }
    }

    /// Makes or replaces a file in pieces of 64 KiB; nothing is acknowledged if this throws.
    func store(
        _ path: String, _ content: [UInt8], flags: Int32 = O_TRUNC, synchronizing: Bool = false
    ) throws(CallFailure) {
        let descriptor = try open(path, O_RDWR | O_CREAT | flags)
        var failure: CallFailure?
        do {
            for start in stride(from: 0, to: content.count, by: 65_536) {
                try write(
                    descriptor, Array(content[start..<min(start + 65_536, content.count)]))
            }
        } catch {
            failure = error
        }
        // Also after a write that failed, as programs do that look at the last call only.
        if synchronizing {
            do { try synchronize(descriptor) } catch { failure = failure ?? error }
        }
        do { try close(descriptor) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    @discardableResult
    private func call(
        _ name: String, _ number: Int32, _ arguments: CallArgument...
    ) throws(CallFailure) -> Reply {
        let reply = agent.ask(
            name, .call(number: Int(number), arguments: arguments, onNewThread: false))
        guard reply.result >= 0 else { throw CallFailure(call: name, error: Int32(-reply.result)) }
        return reply
    }
}
