import DocumentFiles

/// Which states of a document this editor made or found when it began: undo and redo take others' steps away
/// only when their user has been told whose they are.
///
/// What states hold is known by the hashes of their bytes.
struct OwnStates {
    /// What it made.
    private var made: Set<Int> = []
    /// What was there when it began, which is everybody's: what the document held, and the versions that were
    /// gone back to since.
    private var found: Set<Int>
    /// When the states came to be that the history had noted then.
    private let noted: Set<Int64>
    /// What was read last, and is what the user sees.
    private var read: Int
    /// When it began, as ``HistoryStep/time`` is told. A file that is put in place later may be older.
    private let beginning: Int64
    /// The state, and the direction, in which a step was refused last.
    private var refused: (state: Int, isUndo: Bool)?

    /// - Parameters:
    ///   - bytes: what the document holds.
    ///   - noted: of its history, ``DocumentFile/notedTimes()``.
    init(_ bytes: [UInt8], noted: Set<Int64>) {
        read = bytes.hashValue
        found = [bytes.hashValue]
        self.noted = noted
        beginning = HistoryStep.now
    }

    mutating func noteRead(_ bytes: [UInt8]) { read = bytes.hashValue }
    mutating func noteMade(_ bytes: [UInt8]) { made.insert(bytes.hashValue) }
    mutating func forgetRefusal() { refused = nil }

    /// Whether a step may be undone or redone: it is none of others' that is not known to the user, nor one
    /// that they did since this began, unless that has been refused before.
    mutating func may(_ step: PlannedStep) -> Bool {
        let current = step.now.hashValue
        let isAsked = refused.map { $0 == (current, step.isUndo) } ?? false
        let state = step.isUndo ? current : step.bytes.hashValue
        let wasThere =
            step.taken.time <= beginning
            && (found.contains(state) || noted.contains(step.taken.time))
        guard isAsked || (wasThere || made.contains(state)) && current == read else {
            refused = (current, step.isUndo)
            return false
        }
        refused = nil
        if step.target.isVersion, step.target.time <= beginning {
            found.insert(step.bytes.hashValue)
        }
        return true
    }
}
