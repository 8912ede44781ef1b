internal import CKernel
internal import Glibc
package import Probing
package import Testing

/// A mapping in an agent's memory.
package struct Mapping: Sendable {
    /// Where it starts.
    package let address: Int
    /// How many bytes.
    package let length: Int
}

extension Agent {
    /// mmap(2) of a file from its start.
    package func map(
        _ descriptor: Descriptor, length: Int, writable: Bool, shared: Bool, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> Mapping {
        let protection = writable ? PROT_READ | PROT_WRITE : PROT_READ
        let reply = call(
            "mmap \(shared ? "shared" : "private")", SYS_mmap,
            [
                .integer(0), .integer(length), .integer(Int(protection)),
                .integer(Int(shared ? MAP_SHARED : MAP_PRIVATE)), .integer(descriptor.number),
                .integer(0),
            ], fails: fails, at: location)
        return Mapping(address: reply.result < 0 ? 0 : reply.result, length: length)
    }

    /// mlock(2): its pages stay in memory.
    package func lock(_ mapping: Mapping, at location: SourceLocation = #_sourceLocation) {
        _ = call(
            "mlock", SYS_mlock, [.integer(mapping.address), .integer(mapping.length)],
            fails: [], at: location)
    }

    /// munmap(2).
    package func unmap(_ mapping: Mapping, at location: SourceLocation = #_sourceLocation) {
        _ = call(
            "munmap", SYS_munmap, [.integer(mapping.address), .integer(mapping.length)],
            fails: [], at: location)
    }

    /// msync(2) with MS_SYNC.
    package func synchronize(_ mapping: Mapping, at location: SourceLocation = #_sourceLocation) {
        _ = call(
            "msync", SYS_msync,
            [
                .integer(mapping.address), .integer(mapping.length), .integer(Int(MS_SYNC)),
            ], fails: [], at: location)
    }

    /// Reads memory of a mapping.
    package func memory(
        _ mapping: Mapping, offset: Int = 0, count: Int,
        at location: SourceLocation = #_sourceLocation
    ) -> ByteString {
        let reply = ask(
            "reading a mapping", .peek(address: mapping.address + offset, count: count),
            at: location)
        return ByteString(reply.buffers.first ?? [])
    }

    /// Writes memory of a mapping.
    package func setMemory(
        _ mapping: Mapping, offset: Int = 0, _ bytes: ByteString,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = ask(
            "writing a mapping", .poke(address: mapping.address + offset, bytes: bytes.bytes),
            at: location)
    }

    // MARK: Processes

    /// A child process that keeps what this one has open, until `endChild`.
    package func fork(at location: SourceLocation = #_sourceLocation) -> Int {
        let reply = ask("fork", .fork, at: location)
        judge("fork", reply, fails: [], at: location)
        return reply.result
    }

    /// Kills a child and waits until all it had open is closed.
    package func endChild(_ child: Int, at location: SourceLocation = #_sourceLocation) {
        _ = call(
            "kill", SYS_kill, [.integer(child), .integer(Int(SIGKILL))], fails: [], at: location)
        _ = call(
            "wait", SYS_wait4, [.integer(child), .integer(0), .integer(0), .integer(0)],
            fails: [], at: location)
    }

    /// Makes a signal interrupt blocking calls and do nothing else.
    package func catchSignal(_ signal: Int32) {
        _ = ask("sigaction", .catchSignal(Int(signal)))
    }

    /// Runs a program with this process's credentials, directory and descriptors.
    @discardableResult
    package func run(
        _ words: ByteString..., at location: SourceLocation = #_sourceLocation
    ) -> ProgramResult {
        begin("program \(words)", .program(words.map(\.bytes)))
        let reply = finish(milliseconds: 610_000, at: location)
        return ProgramResult(
            status: reply.result, output: reply.buffers.first ?? [],
            errors: reply.buffers.last ?? [])
    }

    /// Runs a line of shell; it has to end with status 0. Its standard output.
    @discardableResult
    package func shell(
        _ line: String, at location: SourceLocation = #_sourceLocation
    ) -> String {
        let result = run("sh", "-c", ByteString(line), at: location)
        if result.status != 0 {
            Issue.record("sh -c '\(line)': \(result)", sourceLocation: location)
        }
        return result.text
    }
}
