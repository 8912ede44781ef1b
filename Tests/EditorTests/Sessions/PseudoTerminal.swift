import Glibc
import TestSupport

/// A program on a terminal of its own, which is its controlling one. Not for several threads.
final class PseudoTerminal {
    let process: Int32
    private var keyboard: Int32
    /// Open all the time, so that the settings can be asked after the program ended.
    private let screenEnd: Int32
    private(set) var output: [UInt8] = []
    private(set) var screen: TextScreen
    private var status: Int32?
    let before: termios

    init(
        _ words: [String], environment: [String: String], columns: Int = 80, rows: Int = 24
    ) throws {
        keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // What unlockpt and ptsname ask, which Swift's Glibc leaves out.
        let (unlock, tellNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var (isLocked, number): (Int32, UInt32) = (0, 0)
        guard keyboard >= 0, ioctl(keyboard, unlock, &isLocked) == 0,
            ioctl(keyboard, tellNumber, &number) == 0
        else { throw TestSetupFailure("no pseudo terminal") }
        let name = "/dev/pts/\(number)"
        _ = fcntl(keyboard, F_SETFD, FD_CLOEXEC)
        screenEnd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        screen = TextScreen(columns: columns, rows: rows)
        before = PseudoTerminal.settings(screenEnd)
        PseudoTerminal.resize(keyboard, columns, rows)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Opened by the leader of a session without a terminal, so it becomes the session's.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        let newSession: Int32 = 0x80
        posix_spawnattr_setflags(&attributes, Int16(newSession | Int32(POSIX_SPAWN_SETSIGMASK)))
        var list = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in list + variables { free(text) } }
        var process: Int32 = 0
        let failure = posix_spawnp(&process, words[0], &actions, &attributes, &list, &variables)
        self.process = process
        guard failure == 0 else { throw TestSetupFailure("\(words[0]) does not start") }
    }

    deinit {
        // 0, of one that did not start, would be this process and its group.
        if status == nil, process > 0 {
            kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
        }
        hangUp()
        close(screenEnd)
    }

    /// The settings of the terminal now.
    var settings: termios { PseudoTerminal.settings(screenEnd) }

    private static func settings(_ descriptor: Int32) -> termios {
        var settings = termios()
        tcgetattr(descriptor, &settings)
        return settings
    }

    /// Whether the settings are those from before the program, as far as they say anything.
    var isRestored: Bool {
        let (now, then) = (settings, before)
        return now.c_iflag == then.c_iflag && now.c_oflag == then.c_oflag
            && now.c_cflag == then.c_cflag && now.c_lflag == then.c_lflag
    }

    private static func resize(_ descriptor: Int32, _ columns: Int, _ rows: Int) {
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }

    func resize(columns: Int, rows: Int) {
        screen.resize(columns: columns, rows: rows)
        PseudoTerminal.resize(keyboard, columns, rows)
    }

    func type(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(keyboard, $0.baseAddress, $0.count) }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Closes the terminal, as when its window is closed.
    func hangUp() {
        if keyboard >= 0 { close(keyboard) }
        keyboard = -1
    }

    /// Reads until something is so; false if it is not within some seconds.
    @discardableResult
    func wait(seconds: Double = 15, until isSo: () throws -> Bool) rethrows -> Bool {
        let end = PseudoTerminal.now + seconds
        while PseudoTerminal.now < end {
            if try isSo() { return true }
            read(milliseconds: 20)
        }
        return try isSo()
    }

    /// Reads until the screen has a text.
    func shows(_ text: String, seconds: Double = 15) -> Bool {
        wait(seconds: seconds) { screen.text.contains(text) }
    }

    /// Reads until a text has come, wherever on the screen.
    func says(_ text: String) -> Bool {
        wait { String(decoding: output, as: UTF8.self).contains(text) }
    }

    /// Reads what comes within this time, once; whether something came.
    @discardableResult
    func read(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(keyboard, &buffer, buffer.count)
        guard count > 0 else {
            usleep(UInt32(milliseconds) * 1_000)
            return false
        }
        output += buffer[..<count]
        screen.take(buffer[..<count])
        return true
    }

    /// The status of its end as a shell has it (128 and the signal); nil if it does not end.
    func end(seconds: Double = 20) -> Int? {
        var result: Int32 = 0
        let ended = wait(seconds: seconds) {
            status != nil || waitpid(process, &result, WNOHANG) > 0
        }
        guard ended else { return nil }
        if status == nil { status = result }
        // All that it wrote at last: one read gives no more than a page of it.
        while read(milliseconds: 20) {}
        let value = Int(status ?? 0)
        return value & 0x7F == 0 ? value >> 8 & 0xFF : 128 + value & 0x7F
    }

    private static var now: Double {
        var moment = timespec()
        clock_gettime(CLOCK_MONOTONIC, &moment)
        return Double(moment.tv_sec) + Double(moment.tv_nsec) / 1e9
    }
}

/// The characters that a terminal shows, as far as the editor uses it.
struct TextScreen {
    private var cells: [[Character]]
    private var column = 0
    private var row = 0
    private var held: [UInt8] = []

    init(columns: Int, rows: Int) {
        cells = [[Character]](
            repeating: [Character](repeating: " ", count: columns), count: rows)
    }

    /// Empties it; what has come of a sequence stays.
    mutating func resize(columns: Int, rows: Int) {
        cells = TextScreen(columns: columns, rows: rows).cells
    }

    var lines: [String] { cells.map { String($0) } }
    var text: String { lines.joined(separator: "\n") }

    mutating func take(_ bytes: some Sequence<UInt8>) {
        held += bytes
        var rest = held[...]
        while let first = rest.first {
            if first == 0x1B {
                guard let count = TextScreen.sequence(rest) else { break }
                obey(rest.prefix(count))
                rest = rest.dropFirst(count)
            } else {
                let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
                guard rest.count >= length else { break }
                put(String(decoding: rest.prefix(length), as: UTF8.self).first ?? " ")
                rest = rest.dropFirst(length)
            }
        }
        held = Array(rest)
    }

    /// How long the sequence is that begins here; nil if it is not complete.
    private static func sequence(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let kind = bytes.dropFirst().first else { return nil }
        switch kind {
        case UInt8(ascii: "["):
            let body = bytes.dropFirst(2).prefix { $0 < 0x40 }
            return body.count + 3 <= bytes.count ? body.count + 3 : nil
        case UInt8(ascii: "_"), UInt8(ascii: "P"), UInt8(ascii: "]"):
            let end = zip(bytes.indices, bytes.indices.dropFirst()).first {
                bytes[$0] == 0x1B && bytes[$1] == UInt8(ascii: "\\")
            }
            return end.map { $0.1 - bytes.startIndex + 1 }
        default: return 2
        }
    }

    private mutating func put(_ character: Character) {
        if cells.indices.contains(row), cells[row].indices.contains(column) {
            cells[row][column] = character
        }
        column += 1
    }

    private mutating func obey(_ sequence: ArraySlice<UInt8>) {
        let text = String(decoding: sequence.dropFirst(2), as: UTF8.self)
        if text.hasSuffix("H") {
            let numbers = text.dropLast().split(separator: ";").compactMap { Int($0) }
            row = (numbers.first ?? 1) - 1
            column = (numbers.dropFirst().first ?? 1) - 1
        } else if text == "2J" {
            cells = cells.map { $0.map { _ in " " } }
        }
    }
}
