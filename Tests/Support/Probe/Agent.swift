import CKernel
import Glibc
import Probing

/// Serves requests from standard input until it ends: `agent DIRECTORY UID GID [GROUP...]`.
///
/// The channel is moved to high descriptors, so that what a test opens gets small numbers.
func runAgent(_ arguments: ArraySlice<String>) -> Never {
    let numbers = arguments.dropFirst().compactMap { Int($0) }
    guard numbers.count >= 2, let directory = arguments.first else { exit(EX_USAGE) }
    let channel = Channel(input: 900, output: 901)
    for (from, to) in [(0, channel.input), (1, channel.output)] {
        let moved = kernel_call(Int(SYS_dup3), from, Int(to), Int(O_CLOEXEC), 0, 0, 0)
        guard moved >= 0, close(Int32(from)) == 0, open("/dev/null", O_RDWR) == Int32(from) else {
            exit(EX_OSERR)
        }
    }
    becomeUser(numbers[0], group: numbers[1], groups: Array(numbers.dropFirst(2)))
    // As that user, because a mount without allow_other is closed even to root.
    guard chdir(directory) == 0 else { exit(EX_NOINPUT) }
    while let bytes = try? channel.receive() {
        guard let request = try? Request(frame: bytes) else { exit(EX_PROTOCOL) }
        do {
            try channel.send(serve(request).frame)
        } catch {
            exit(EX_PROTOCOL)
        }
    }
    exit(0)
}

private func becomeUser(_ user: Int, group: Int, groups: [Int]) {
    if geteuid() != 0 { return }
    let list = groups.map { gid_t($0) }
    guard setgroups(list.count, list) == 0,
        kernel_call(Int(SYS_setresgid), group, group, group, 0, 0, 0) == 0,
        kernel_call(Int(SYS_setresuid), user, user, user, 0, 0, 0) == 0
    else { exit(EX_NOPERM) }
    // Changing the user makes /proc/self root's; tests re-open descriptors through it.
    _ = kernel_call(Int(SYS_prctl), Int(PR_SET_DUMPABLE), 1, 0, 0, 0, 0)
}

private func serve(_ request: Request) -> Reply {
    switch request {
    case .call(let number, let arguments, let onNewThread):
        return onNewThread
            ? callOnNewThread(number, arguments) : call(number, arguments)
    case .peek(let address, let count):
        guard let memory = UnsafeRawPointer(bitPattern: address) else { return Reply(result: -14) }
        return Reply(
            result: count,
            buffers: [Array(UnsafeRawBufferPointer(start: memory, count: count))])
    case .poke(let address, let bytes):
        guard let memory = UnsafeMutableRawPointer(bitPattern: address) else {
            return Reply(result: -14)
        }
        bytes.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyMemory(from: $0)
        }
        return Reply(result: bytes.count)
    case .catchSignal(let signal):
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        return Reply(result: Int(sigaction(Int32(signal), &action, nil)))
    case .fork:
        return Reply(result: makeHolder())
    case .program(let words):
        guard let program = try? RunningProgram(words) else { return Reply(result: -Int(ENOENT)) }
        let result = program.wait(seconds: 600)
        return Reply(result: result.status, buffers: [result.output, result.errors])
    }
}

/// A child that does nothing but keep what it inherited, until it is killed or this process ends.
private func makeHolder() -> Int {
    let child = kernel_fork()
    guard child == 0 else { return child }
    _ = kernel_call(Int(SYS_prctl), Int(PR_SET_PDEATHSIG), Int(SIGKILL), 0, 0, 0, 0)
    close(900)
    close(901)
    while true { pause() }
}

/// One system call with its buffers.
private func call(_ number: Int, _ arguments: [CallArgument]) -> Reply {
    var values: [Int] = []
    var buffers: [UnsafeMutableRawBufferPointer] = []
    var written: [Int] = []
    defer { for buffer in buffers { buffer.deallocate() } }
    for argument in arguments {
        let content: [UInt8]
        var room = 1
        switch argument {
        case .integer(let value):
            values.append(value)
            continue
        case .input(let bytes): content = bytes
        case .output(let count):
            content = []
            room += count
            written.append(buffers.count)
        case .both(let bytes):
            content = bytes
            written.append(buffers.count)
        }
        // O_DIRECT wants memory aligned to the disk's blocks.
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: content.count + room, alignment: 4096)
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        buffer.copyBytes(from: content)
        buffers.append(buffer)
        values.append(Int(bitPattern: buffer.baseAddress))
    }
    values += Array(repeating: 0, count: max(0, 6 - values.count))
    let result = kernel_call(
        number, values[0], values[1], values[2], values[3], values[4], values[5])
    // The last byte is the NUL that was added.
    return Reply(result: result, buffers: written.map { Array(buffers[$0].dropLast()) })
}

/// What a thread is given and what it leaves.
private final class Errand {
    let number: Int
    let arguments: [CallArgument]
    var reply = Reply(result: -Int(EAGAIN))

    init(number: Int, arguments: [CallArgument]) {
        self.number = number
        self.arguments = arguments
    }
}

private func callOnNewThread(_ number: Int, _ arguments: [CallArgument]) -> Reply {
    let errand = Errand(number: number, arguments: arguments)
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { raw in
            guard let raw else { return nil }
            let errand = Unmanaged<Errand>.fromOpaque(raw).takeUnretainedValue()
            errand.reply = call(errand.number, errand.arguments)
            return nil
        }, Unmanaged.passUnretained(errand).toOpaque())
    guard failure == 0 else { return errand.reply }
    pthread_join(thread, nil)
    return errand.reply
}
