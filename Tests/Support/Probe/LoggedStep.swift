/// One change that a logged writer makes; what the log says of it is enough to judge a crash.
enum LoggedStep: Equatable {
    /// Rewrites a slot from its start, truncated to nothing first or not.
    case rewrite(slot: Int, version: Int, truncating: Bool)
    /// Writes a temporary file and renames it over a slot.
    case replace(slot: Int, version: Int)
    /// Renames one slot over another.
    case move(from: Int, to: Int)
    /// Unlinks a slot.
    case delete(slot: Int)

    /// The line of the log.
    var line: String {
        switch self {
        case .rewrite(let slot, let version, let truncating):
            "\(truncating ? "truncate" : "rewrite") \(slot) \(version)"
        case .replace(let slot, let version): "replace \(slot) \(version)"
        case .move(let from, let to): "move \(from) \(to)"
        case .delete(let slot): "delete \(slot) 0"
        }
    }

    /// Reads a line of the log; nil for the lines between the steps.
    init?(line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 3, let first = Int(words[1]), let second = Int(words[2]) else {
            return nil
        }
        switch words[0] {
        case "truncate": self = .rewrite(slot: first, version: second, truncating: true)
        case "rewrite": self = .rewrite(slot: first, version: second, truncating: false)
        case "replace": self = .replace(slot: first, version: second)
        case "move": self = .move(from: first, to: second)
        case "delete": self = .delete(slot: first)
        default: return nil
        }
    }

    /// Changes what the slots hold: versions, 0 for none.
    func apply(to slots: inout [Int]) {
        switch self {
        case .rewrite(let slot, let version, _), .replace(let slot, let version):
            slots[slot] = version
        case .move(let from, let to):
            slots[to] = slots[from]
            slots[from] = 0
        case .delete(let slot): slots[slot] = 0
        }
    }
}

/// How many files a logged writer has.
let loggedSlotCount = 6
