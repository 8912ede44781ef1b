internal import SystemCalls

/// One state of a document that can be gone back or forth to.
package struct HistoryStep: Hashable, Sendable {
    /// Where the state's bytes are.
    enum Source: Hashable, Sendable {
        /// A file of the journal, by number, and the SHA-256 of what belongs in it in hexadecimal
        /// digits; `nil` where nobody noted that.
        case journal(Int, digest: String?)
        /// An earlier version that the mount shows, by its path.
        case version(String)
    }

    var source: Source
    /// When the state came to be, in nanoseconds since 1970.
    package var time: Int64
    /// What made it, in words.
    package var description: String
    /// How many damaged states lay between it and the one it was come to from.
    package var passedOver = 0
    /// Of one that was undone or made again: why it, or what came after it, cannot be made again.
    package var historyProblem: String?

    /// Whether it is a version that a mount keeps, whose ``time`` is that at which it was saved there.
    package var isVersion: Bool {
        if case .version = source { true } else { false }
    }

    /// The ``time`` of what comes to be now.
    package static var now: Int64 {
        let now = WallClock.now
        return Int64(now.seconds) &* 1_000_000_000 &+ Int64(now.nanoseconds)
    }
}

/// What undo or redo is about to do.
package struct PlannedStep: Sendable {
    /// The step that is undone or made again: the state that it made.
    package let taken: HistoryStep
    /// The state that the document is to have, and what it holds then.
    package let target: HistoryStep
    package let bytes: [UInt8]
    /// What the document holds before.
    package let now: [UInt8]
    package let isUndo: Bool
}

/// The states of one document in the order they came to be, and which of them it is in.
struct HistorySteps: Sendable {
    var list: [HistoryStep] = []
    var current = 0
    var nextNumber = 0

    var currentStep: HistoryStep? { list.indices.contains(current) ? list[current] : nil }

    /// The state one step back (-1) or forth (1).
    func target(_ direction: Int) -> HistoryStep? {
        let index = current + direction
        return list.indices.contains(index) ? list[index] : nil
    }

    mutating func move(_ direction: Int) { current += direction }

    /// The same without a state that is gone, which is not the current one.
    mutating func remove(at index: Int) {
        list.remove(at: index)
        if index < current { current -= 1 }
    }

    /// A new state follows the current one; what was undone can no longer be redone.
    ///
    /// - Parameter digest: of its bytes, as ``HistoryStep/Source/journal(_:digest:)`` has it.
    mutating func append(time: Int64, description: String, digest: String?) -> Int {
        if !list.isEmpty { list.removeSubrange((current + 1)...) }
        let number = nextNumber
        nextNumber += 1
        list.append(
            HistoryStep(
                source: .journal(number, digest: digest), time: time, description: description))
        current = list.count - 1
        return number
    }
}
