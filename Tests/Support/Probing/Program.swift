internal import CKernel
internal import Glibc

/// What a program left behind.
package struct ProgramResult: Sendable, CustomStringConvertible {
    /// The exit status; 128 + the signal if one ended it, 999 if it took too long and was killed.
    package var status: Int
    /// What it wrote to its standard output.
    package var output: [UInt8]
    /// What it wrote to its standard error.
    package var errors: [UInt8]

    /// A result of these parts.
    package init(status: Int, output: [UInt8], errors: [UInt8]) {
        self.status = status
        self.output = output
        self.errors = errors
    }

    /// The standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
    /// The standard error as text.
    package var errorText: String { String(decoding: errors, as: UTF8.self) }
    /// Status and both outputs, for messages.
    package var description: String { "status \(status)\n\(text)\(errorText)" }
}

/// A program that could not be started.
package struct ProgramNotStarted: Error, CustomStringConvertible {
    /// The program's name and why.
    package let description: String
}

/// A program while it runs. Not for several threads at once.
///
/// Its outputs go to memory files and not to pipes, so a daemon that keeps them open holds up
/// nobody. It gets a process group of its own, so that it can be killed with its children.
package final class RunningProgram {
    /// Its process id, also its process group's.
    package let process: Int32
    private let pidDescriptor: Int32
    private let outputs: (Int32, Int32)
    private var result: ProgramResult?

    /// Starts `words` in `directory`. Where given, `environment` replaces the environment,
    /// `input` becomes its standard input instead of /dev/null, and `output` its standard output
    /// instead of a file that is kept for the result.
    package init(
        _ words: [[UInt8]], directory: String? = nil, environment: [String: String]? = nil,
        input: Int32? = nil, output: Int32? = nil
    ) throws {
        outputs = (Self.memoryFile(), Self.memoryFile())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let directory { kernel_spawn_in(&actions, directory) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output ?? outputs.0, 1)
        posix_spawn_file_actions_adddup2(&actions, outputs.1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of Swift's pool block all signals, and programs would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        var process: Int32 = 0
        let failure = withCStrings(words) { argv in
            guard let file = argv[0] else { return EINVAL }
            guard let environment else {
                return posix_spawnp(&process, file, &actions, &attributes, argv, environ)
            }
            return withCStrings(environment.map { Array("\($0.key)=\($0.value)".utf8) }) {
                posix_spawnp(&process, file, &actions, &attributes, argv, $0)
            }
        }
        self.process = process
        let name = String(decoding: words.first ?? [], as: UTF8.self)
        guard failure == 0 else {
            pidDescriptor = -1
            throw ProgramNotStarted(description: "\(name): \(String(cString: strerror(failure)))")
        }
        pidDescriptor = Int32(kernel_call(Int(SYS_pidfd_open), Int(process), 0, 0, 0, 0, 0))
    }

    deinit {
        if result == nil && pidDescriptor >= 0 { kill(signal: SIGKILL, group: true) }
        if result == nil && pidDescriptor >= 0 { _ = wait(seconds: 5) }
        for descriptor in [outputs.0, outputs.1, pidDescriptor] where descriptor >= 0 {
            close(descriptor)
        }
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool {
        var entry = pollfd(fd: pidDescriptor, events: Int16(POLLIN), revents: 0)
        return result == nil && poll(&entry, 1, 0) == 0
    }

    /// Sends a signal to it, or to its whole group.
    package func kill(signal: Int32, group: Bool = false) {
        // A program that was waited for has no process id any more.
        guard result == nil else { return }
        _ = Glibc.kill(group ? -process : process, signal)
    }

    /// Waits for its end; after `seconds` it is killed with its group.
    package func wait(seconds: Double = 180) -> ProgramResult {
        if let result { return result }
        var entry = pollfd(fd: pidDescriptor, events: Int16(POLLIN), revents: 0)
        let ended = poll(&entry, 1, Int32(seconds * 1000)) > 0
        if !ended { kill(signal: SIGKILL, group: true) }
        // A process stuck in the kernel does not die; waiting for it would stop the whole run.
        let gone = ended || poll(&entry, 1, 5000) > 0
        var status: Int32 = 0
        if gone { waitpid(process, &status, 0) }
        let signal = Int(status & 0x7f)
        let code = signal == 0 ? Int(status >> 8 & 0xff) : 128 + signal
        let result = ProgramResult(
            status: ended ? code : 999, output: Self.content(outputs.0),
            errors: Self.content(outputs.1))
        self.result = result
        return result
    }

    private static func memoryFile() -> Int32 {
        [UInt8]("output\0".utf8).withUnsafeBytes {
            let name = Int(bitPattern: $0.baseAddress)
            return Int32(
                kernel_call(Int(SYS_memfd_create), name, MFD_CLOEXEC, 0, 0, 0, 0))
        }
    }

    private static func content(_ descriptor: Int32) -> [UInt8] {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
    }
}

/// Runs a program to its end.
package func run(
    _ words: [String], directory: String? = nil, environment: [String: String]? = nil,
    seconds: Double = 180
) throws -> ProgramResult {
    try RunningProgram(
        words.map { Array($0.utf8) }, directory: directory, environment: environment
    ).wait(seconds: seconds)
}

/// Gives the strings as C wants an argument list: NUL-terminated, nil at the end.
private func withCStrings<R>(
    _ strings: [[UInt8]], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
        capacity: strings.count + 1)
    for (index, string) in strings.enumerated() {
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: string.count + 1)
        for (offset, byte) in string.enumerated() { copy[offset] = CChar(bitPattern: byte) }
        copy[string.count] = 0
        list[index] = copy
    }
    list[strings.count] = nil
    defer {
        for index in strings.indices { list[index]?.deallocate() }
        list.deallocate()
    }
    return body(list)
}
