internal import CKernel
internal import Glibc
internal import Probing
package import Testing

/// The system call that the main thread of a process waits in.
package struct BlockedCall: Sendable {
    /// Its number; -1 while the thread runs or waits for something else.
    package let number: Int32
    private let process: Int
    private let firstArgument: Int

    /// nil where the kernel does not tell.
    package init?(of process: Int) {
        guard let file = fopen("/proc/\(process)/syscall", "r") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = fread(&buffer, 1, 512, file)
        guard count > 0 else { return nil }
        // 257 0xffffff9c 0x7f3c... and so on, or: running
        let words = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: " ")
        let argument = words.dropFirst().first ?? ""
        number = words.first.flatMap { Int32($0) } ?? -1
        firstArgument = Int(argument.dropFirst(2), radix: 16) ?? -1
        self.process = process
    }

    /// Whether it is made with a descriptor of a file of this name, which it has as its first argument.
    package func isOn(_ name: String) -> Bool {
        guard number >= 0 else { return false }
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/\(process)/fd/\(firstArgument)", &path, 4096)
        let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).hasSuffix("/" + name)
    }
}

extension Agent {
    /// Waits until the call that was begun is in the kernel and waits there: what comes sooner, a
    /// signal for instance, does not meet it. Returns at once where the kernel does not tell, or
    /// when the call has returned.
    package func waitUntilBlocked(
        in number: Int32, at location: SourceLocation = #_sourceLocation
    ) {
        for _ in 0..<6_000 {
            guard !hasFinished(within: 5), let call = BlockedCall(of: process) else { return }
            if call.number == number { return }
        }
        Issue.record("not in system call \(number) within 30 s", sourceLocation: location)
    }

    /// sendfile(2) from the start of a file again and again, until it fails with this error. Each
    /// that does not moves some bytes.
    package func sendFile(
        from source: Descriptor, to target: Descriptor, count: Int, untilItFails error: Int32,
        at location: SourceLocation = #_sourceLocation
    ) {
        let position = withUnsafeBytes(of: Int64(0)) { Array($0) }
        repeatCall(
            "sendfile of \(count)", SYS_sendfile,
            [
                .integer(target.number), .integer(source.number), .both(position),
                .integer(count),
            ], untilItFails: error, at: location)
    }

    /// write(2) of what a mapping has again and again, until it fails with this error.
    package func write(
        _ descriptor: Descriptor, _ mapping: Mapping, untilItFails error: Int32,
        at location: SourceLocation = #_sourceLocation
    ) {
        repeatCall(
            "write of a mapping", SYS_write,
            [
                .integer(descriptor.number), .integer(mapping.address),
                .integer(mapping.length),
            ], untilItFails: error, at: location)
    }

    private func repeatCall(
        _ name: String, _ number: Int32, _ arguments: [CallArgument], untilItFails error: Int32,
        at location: SourceLocation
    ) {
        let request = Request.call(
            number: Int(number), arguments: arguments, onNewThread: usesNewThreads)
        var reply = ask(name, request, at: location)
        for _ in 0..<1_500 where reply.result >= 0 {
            usleep(20_000)
            reply = ask(name, request, at: location)
        }
        judge(name, reply, fails: [error], at: location)
    }
}
