import Glibc
import Probing

/// Changes files and logs what was acknowledged, until the file system goes away or standard
/// input ends: `logged-writer DIRECTORY LOG WRITER SEED`. Prints what ended it.
///
/// A step is logged before it begins, and `done` after the call that acknowledges it returned;
/// `synced` says that fsync returned with all of the version written.
func runLoggedWriter(_ arguments: ArraySlice<String>) -> Never {
    let words = Array(arguments)
    guard words.count == 4, let writer = Int(words[2]), let seed = UInt64(words[3]),
        // The directory itself, because its path leads elsewhere once the mount is gone.
        chdir(words[0]) == 0
    else { exit(EX_USAGE) }
    let log = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    var stepper = LoggedStepper(writer: writer, log: log, random: SplitMix(seed: seed))
    var steps = 0
    while !inputHasEnded() {
        do {
            try stepper.step()
            steps += 1
        } catch {
            print("steps=\(steps) \(error.call) \(String(cString: strerror(error.code)))")
            // What a file system that is gone answers; anything else is a find.
            exit([ENOTCONN, ECONNABORTED, EIO].contains(error.code) ? 0 : EX_DATAERR)
        }
    }
    print("steps=\(steps) stopped")
    exit(0)
}

/// Whether whoever started this program wants it to stop.
func inputHasEnded() -> Bool {
    var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
}

private struct CallFailure: Error {
    let call: String
    let code: Int32
}

private struct LoggedStepper {
    let writer: Int
    let log: Int32
    var random: SplitMix
    var slots = [Int](repeating: 0, count: loggedSlotCount)
    var lastVersion = 0

    init(writer: Int, log: Int32, random: SplitMix) {
        self.writer = writer
        self.log = log
        self.random = random
    }

    mutating func step() throws(CallFailure) {
        let step = choose()
        note(step.line)
        switch step {
        case .rewrite(let slot, let version, let truncating):
            try rewrite(slot: slot, version: version, truncating: truncating)
        case .replace(let slot, let version): try replace(slot: slot, version: version)
        case .move(let from, let to):
            try check(rename("slot\(from)", "slot\(to)"), "rename")
        case .delete(let slot): try check(unlink("slot\(slot)"), "unlink")
        }
        note("done")
        step.apply(to: &slots)
    }

    private mutating func choose() -> LoggedStep {
        let slot = random.below(loggedSlotCount)
        let full = slots.indices.filter { slots[$0] > 0 }
        switch random.below(10) {
        case 0 where !full.isEmpty: return .delete(slot: full[random.below(full.count)])
        case 1, 2:
            let from = full.isEmpty ? slot : full[random.below(full.count)]
            if slots[from] > 0 && from != slot { return .move(from: from, to: slot) }
        default: break
        }
        lastVersion += 1
        switch random.below(3) {
        case 0: return .replace(slot: slot, version: lastVersion)
        case 1: return .rewrite(slot: slot, version: lastVersion, truncating: true)
        default: return .rewrite(slot: slot, version: lastVersion, truncating: false)
        }
    }

    private mutating func rewrite(
        slot: Int, version: Int, truncating: Bool
    ) throws(CallFailure) {
        let flags = O_WRONLY | O_CREAT | (truncating ? O_TRUNC : 0)
        let file = try open("slot\(slot)", flags: flags)
        let size = try writePieces(version: version, to: file)
        try check(ftruncate(file, off_t(size)), "ftruncate")
        if random.below(3) == 0 {
            try check(fsync(file), "fsync")
            note("synced")
            usleep(UInt32(random.below(20_000)))
        }
        try check(close(file), "close")
    }

    private mutating func replace(slot: Int, version: Int) throws(CallFailure) {
        let file = try open("temporary", flags: O_WRONLY | O_CREAT | O_TRUNC)
        _ = try writePieces(version: version, to: file)
        if random.below(2) == 0 { try check(fsync(file), "fsync") }
        try check(close(file), "close")
        try check(rename("temporary", "slot\(slot)"), "rename")
    }

    private mutating func writePieces(version: Int, to file: Int32) throws(CallFailure) -> Int {
        let content = SelfCheckingText.content(writer: writer, version: version)
        let pieces = 1 + random.below(4)
        let size = content.count / pieces + 1
        for start in stride(from: 0, to: content.count, by: size) {
            let piece = content[start..<min(start + size, content.count)]
            let count = piece.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            try check(count == piece.count ? 0 : -1, "write")
            if random.below(4) == 0 { usleep(UInt32(random.below(3000))) }
        }
        return content.count
    }

    private func open(_ name: String, flags: Int32) throws(CallFailure) -> Int32 {
        let file = Glibc.open(name, flags | O_CLOEXEC, 0o644)
        try check(file, "open")
        return file
    }

    private func check(_ result: Int32, _ call: String) throws(CallFailure) {
        if result < 0 { throw CallFailure(call: call, code: errno) }
    }

    private func note(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        write(log, bytes, bytes.count)
    }
}
