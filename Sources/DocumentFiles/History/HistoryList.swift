internal import PathText

/// The file `steps` of a history: which states there are, in which order, and which document they are of.
///
/// The first line has the current state's place in the list, the next number to give out, and the document's path;
/// each other one a state's number, when it came to be, its SHA-256 and what made it.
struct HistoryList {
    /// Numbers of states that are read; nobody edits as often.
    private static let numberLimit = 1 << 48
    /// What a state's SHA-256 begins with. Earlier programs noted none.
    private static let digestMark = "sha256:"

    /// Those that the file has: none that a mount keeps as versions.
    let steps: HistorySteps
    /// Of the document, as it was when that was written.
    private let path: String

    init(_ steps: HistorySteps, of path: String) {
        self.steps = steps
        self.path = Self.line(path)
    }

    /// Whether the document had that path.
    func isOf(_ path: String) -> Bool { self.path == Self.line(path) }

    /// `text` without line breaks.
    static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    // MARK: Reading

    /// What the bytes of such a file say; `nil` if nothing sensible.
    init?(_ bytes: [UInt8]) {
        var steps = HistorySteps()
        let lines = String(path: bytes).split(separator: "\n")
        guard let head = lines.first?.split(separator: " ", maxSplits: 2), head.count == 3,
            let current = Int(head[0]), let next = Int(head[1]),
            (0..<Self.numberLimit).contains(next)
        else { return nil }
        steps.nextNumber = next
        steps.current = current
        // All of them: who has gone back into the mount's versions has more states before them than
        // the limit, and the newest is what the last redo leads to.
        for (position, line) in lines.dropFirst().enumerated() {
            // A blank with a combining mark behind it is no `Character` of its own.
            let fields = line.unicodeScalars.split(
                separator: " ", maxSplits: 2, omittingEmptySubsequences: false
            ).map { String($0) }
            guard fields.count == 3, let number = Int(fields[0]), (0..<next).contains(number),
                let time = Int64(fields[1])
            else {
                // One that nothing can be read of costs no other.
                if position < current { steps.current -= 1 }
                continue
            }
            let (digest, description) = Self.digestAndDescription(fields[2])
            steps.list.append(
                HistoryStep(
                    source: .journal(number, digest: digest), time: time,
                    description: description))
        }
        steps.current = min(steps.current, steps.list.count - 1)
        guard steps.current >= 0 else { return nil }
        self.steps = steps
        path = String(head[2])
    }

    /// What the end of a line says of a state.
    private static func digestAndDescription(_ text: String) -> (String?, String) {
        let fields = text.unicodeScalars.split(
            separator: " ", maxSplits: 1, omittingEmptySubsequences: false
        ).map { String($0) }
        guard fields.count == 2, fields[0].hasPrefix(digestMark) else { return (nil, text) }
        return (String(fields[0].dropFirst(digestMark.count)), fields[1])
    }

    // MARK: Writing

    /// The bytes of such a file.
    var text: [UInt8] {
        var text = "\(steps.current) \(steps.nextNumber) \(path)\n"
        for step in steps.list {
            guard case .journal(let number, let digest) = step.source else { continue }
            let mark = digest.map { Self.digestMark + $0 + " " } ?? ""
            text += "\(number) \(step.time) \(mark)\(step.description)\n"
        }
        return text.pathBytes
    }

    /// The files that have the states, by their names.
    var numbers: Set<String> {
        Set(
            steps.list.compactMap { step in
                guard case .journal(let number, _) = step.source else { return nil }
                return String(number)
            })
    }
}
