import Glibc
import Probing

/// Compares a directory with what its writer was promised: `logged-check DIRECTORY LOG WRITER`.
/// Prints every difference; status 1 if there is one.
func checkLoggedWriter(_ arguments: ArraySlice<String>) -> Never {
    let words = Array(arguments)
    guard words.count == 3, let writer = Int(words[2]), let log = content(of: words[1]) else {
        exit(EX_USAGE)
    }
    var promised = Promised()
    for line in String(decoding: log, as: UTF8.self).split(separator: "\n") {
        promised.read(line)
    }
    let found = (0..<loggedSlotCount).map { slot in
        Found(content(of: "\(words[0])/slot\(slot)"), writer: writer)
    }
    var problems = promised.problems(with: found)
    // What never got its name may be there or not, but not in pieces.
    if case .torn(let how) = Found(content(of: "\(words[0])/temporary"), writer: writer) {
        problems.append("temporary: \(how)")
    }
    print("acknowledged=\(promised.acknowledged)")
    for problem in problems { print(problem) }
    exit(problems.isEmpty ? 0 : 1)
}

/// What is in a slot.
private enum Found: Equatable {
    case absent
    case empty
    case whole(Int)
    case torn(String)

    init(_ content: [UInt8]?, writer: Int) {
        guard let content else {
            self = .absent
            return
        }
        switch SelfCheckingText.verdict(content, writer: writer) {
        case .whole(let version): self = .whole(version)
        case .empty: self = .empty
        case .torn(let how): self = .torn(how)
        }
    }

    /// Whether this is that version, 0 being none.
    func isVersion(_ version: Int) -> Bool {
        version == 0 ? self == .absent : self == .whole(version)
    }
}

/// What a log says the slots have to hold.
private struct Promised {
    var slots = [Int](repeating: 0, count: loggedSlotCount)
    var acknowledged = 0
    /// The step that had begun when the log ends.
    var begun: LoggedStep?
    /// Whether fsync had returned in that step.
    var isSynced = false

    mutating func read(_ line: Substring) {
        if line == "synced" {
            isSynced = true
            acknowledged += 1
        } else if line == "done" {
            begun?.apply(to: &slots)
            begun = nil
            acknowledged += 1
        } else if let step = LoggedStep(line: line) {
            begun = step
            isSynced = false
        }
    }

    func problems(with found: [Found]) -> [String] {
        var after = slots
        begun?.apply(to: &after)
        let isBefore = differences(found, slots)
        if isBefore.isEmpty && !isSynced { return [] }
        let isAfter = differences(found, after)
        if begun != nil && isAfter.isEmpty { return [] }
        // A file that was made but not yet written is empty for all but its writer.
        if case .rewrite(let slot, _, _) = begun, slots[slot] == 0, !isSynced,
            found[slot] == .empty
        {
            return isBefore.filter { !$0.hasPrefix("slot\(slot):") }
        }
        let state = begun.map { "during \($0)\(isSynced ? ", synced" : "")" } ?? "all done"
        return (isSynced ? isAfter : isBefore).map { "\($0) (\(state))" }
    }

    private func differences(_ found: [Found], _ expected: [Int]) -> [String] {
        found.indices.compactMap { slot in
            found[slot].isVersion(expected[slot])
                ? nil : "slot\(slot): \(found[slot]) instead of version \(expected[slot])"
        }
    }
}

/// Everything in a file; nil if there is none.
private func content(of path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(file, &buffer, buffer.count)
        guard count >= 0 else { return Array("unreadable: errno \(errno)".utf8) }
        if count == 0 { return all }
        all += buffer[..<count]
    }
}
