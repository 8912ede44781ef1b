internal import Glibc
internal import SystemCalls

/// An edit of a document, for who makes it again when it failed.
///
/// What it wrote may be in the document all the same: the daemon of a mount can be killed when it has
/// published that, and before the close is answered.
package struct EditAttempt: Sendable {
    /// What is, or was to be, in the document then; `nil` where nothing was to be written.
    package private(set) var written: [UInt8]?
    /// When that was first written, in nanoseconds since 1970.
    private var since: Int64 = .max

    package init() {}

    mutating func begin(_ bytes: [UInt8]) {
        written = bytes
        since = min(since, HistoryStep.now)
    }

    /// Whether it was made, as far as that can be told: the document, or a version of it since, is what was
    /// written, or the history has an edit of that.
    func isMade(
        _ current: [UInt8], at path: String, _ claim: borrowing FileClaim
    ) -> Bool {
        guard let written else { return false }
        if current == written { return true }
        let journal = HistoryJournal(of: claim.file, isCoordinated: claim.isCoordinated)
        if journal.wasMade(written, since: since) { return true }
        guard claim.isCoordinated else { return false }
        return MountVersions.steps(of: path).contains { step in
            guard step.time >= since, case .version(let file) = step.source,
                let version = try? OwnedDescriptor.open(file, O_RDONLY)
            else { return false }
            return (try? WholeFile.read(version)) == written
        }
    }
}

/// A step back or forth in the history of a document, for who takes it again when it failed: it may have been made
/// all the same, as an ``EditAttempt``.
package struct StepAttempt: Sendable {
    private var begun: PlannedStep?

    package init() {}

    mutating func begin(_ step: PlannedStep) { begun = step }

    /// The step that was made, as far as that can be told: the document is what it was to be then.
    func made(_ current: [UInt8], isUndo: Bool) -> HistoryStep? {
        guard let begun, begun.isUndo == isUndo, begun.bytes == current else { return nil }
        return begun.taken
    }
}
