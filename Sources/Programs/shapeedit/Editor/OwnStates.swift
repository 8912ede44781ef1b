import DocumentFiles

/// Which states of a document this editor made or found when it began: undo and redo take others' steps away
/// only when their user has been told whose they are.
///
/// States are known by the hashes of their bytes.
struct OwnStates {
    /// What it made.
    private var made: Set<Int> = []
    /// What was read last, and is what the user sees.
    private var read: Int
    /// When it began, as ``HistoryStep/time`` is told; what was there before is everybody's.
    private let beginning: Int64
    /// The state, and the direction, in which a step was refused last.
    private var refused: (state: Int, isUndo: Bool)?

    /// - Parameter bytes: what was found.
    init(_ bytes: [UInt8]) {
        read = bytes.hashValue
        beginning = HistoryStep.now
    }

    mutating func noteRead(_ bytes: [UInt8]) { read = bytes.hashValue }
    mutating func noteMade(_ bytes: [UInt8]) { made.insert(bytes.hashValue) }
    mutating func forgetRefusal() { refused = nil }

    /// Whether a step may be undone or redone: it is none of others' that is not known to the user, nor one
    /// that they did since this began, unless that has been refused before.
    mutating func mayStep(
        _ step: HistoryStep, to state: [UInt8], from now: [UInt8], isUndo: Bool
    ) -> Bool {
        let current = now.hashValue
        let isAsked = refused.map { $0 == (current, isUndo) } ?? false
        let isOwn = step.time <= beginning || made.contains(state.hashValue)
        if isAsked || isOwn && current == read {
            refused = nil
            return true
        }
        refused = (current, isUndo)
        return false
    }
}
