package import Documents
package import Editing
internal import Glibc
package import Model
package import SystemCalls

/// A document by its path: read whole, changed under its lock, written whole.
///
/// Works on any path. Inside a mount of ours the document is changed in place and published by
/// close; elsewhere a new file takes its name. Any thread; blocks on the disk and on locks, the
/// latter for no more than ten seconds.
package struct DocumentFile: Sendable {
    /// What was read.
    package struct Loaded: Sendable {
        package var document: EditableDocument
        package var bytes: [UInt8]
        /// What was repaired in reading, in words.
        package var repairs: [String]
        package var stamp: FileStamp

        /// What was repaired or is wrong, in words.
        package var notes: [String] { repairs + document.problems() }
    }

    /// What an edit did.
    package struct Edited: Sendable {
        package var changes: [Change]
        /// What was repaired in reading, in words, and so is written otherwise than it was; empty
        /// where nothing changed.
        package var repairs: [String]
        /// Why it cannot be undone; `nil` if it can. In a mount there are the versions.
        package internal(set) var historyProblem: String?

        init(_ changes: [Change], repairs: [String]) {
            self.changes = changes
            self.repairs = changes.isEmpty ? [] : repairs
        }
    }

    /// Absolute, without symlinks.
    package let path: String
    package let type: DocumentType
    /// As the caller named it, for messages.
    private let name: String

    /// Finds the document.
    ///
    /// - Parameter type: `nil` tells it by the name's extension, then by the content.
    package init(_ name: String, type: DocumentType? = nil) throws(Failure) {
        self.name = name
        path = try FoundFile.path(of: name)
        if let known = type ?? DocumentType(fileName: path) ?? DocumentType(fileName: name) {
            self.type = known
            return
        }
        self.type = try DocumentType(content: try Self.read(path, name).bytes, of: name)
    }

    /// The same document at the absolute path where it is now.
    func moved(to path: String) -> DocumentFile { DocumentFile(path: path, type: type) }

    private init(path: String, type: DocumentType) {
        (self.path, self.type, name) = (path, type, path)
    }

    private static func read(_ path: String, _ name: String) throws(Failure) -> (
        bytes: [UInt8], stamp: FileStamp
    ) {
        // Others may have put something else in its place since it was found.
        try FoundFile.check(path, named: name)
        do throws(Errno) {
            let file = try OwnedDescriptor.open(path, O_RDONLY)
            // Before it is read: who writes into it meanwhile is noticed.
            let stamp = FileStamp(try file.status())
            return (try WholeFile.read(file), stamp)
        } catch { throw Failure(reading: name, error) }
    }

    /// What the claimed file holds, which stays so as long as the claim; outside of mounts only as far as others
    /// ask for the lock, too: the stamp tells whether it has.
    private func read(
        _ claim: borrowing FileClaim
    ) throws(Failure) -> (bytes: [UInt8], stamp: FileStamp) {
        do throws(Errno) {
            let stamp = FileStamp(try claim.file.status())
            return (try WholeFile.read(claim.file), stamp)
        } catch { throw Failure(reading: name, error) }
    }

    /// The document as it is now: one whole version.
    package func load() throws(Failure) -> Loaded {
        let (bytes, stamp) = try Self.read(path, name)
        let (document, repairs) = try parse(bytes)
        return Loaded(document: document, bytes: bytes, repairs: repairs, stamp: stamp)
    }

    private func parse(
        _ bytes: [UInt8]
    ) throws(Failure) -> (document: EditableDocument, repairs: [String]) {
        do throws(DocumentError) { return try EditableDocument.repaired(bytes, as: type) } catch {
            throw Failure(name, error)
        }
    }

    /// The file's stamp now; `nil` if it is gone.
    package func stamp() -> FileStamp? { FileStamp(path: path) }

    // MARK: Changing

    /// Changes the document under its lock: what others wrote before is read first, so that two
    /// changes of different parts both last. The change is made again where others wrote to the document
    /// or put another file in its place meanwhile.
    ///
    /// - Parameters:
    ///   - describedAs: what ``history()`` shows.
    /// - Returns: what changed; nothing is written if that is nothing, or on a dry run.
    package func edit(
        dryRun: Bool = false, describedAs description: String,
        _ change: (inout EditableDocument) throws(Failure) -> [Change]
    ) throws(Failure) -> Edited {
        if dryRun {
            var loaded = try load()
            return Edited(try change(&loaded.document), repairs: loaded.repairs)
        }
        var attempt = EditAttempt()
        return try edit(describedAs: description, attempt: &attempt, successor: { _ in }, change)
    }

    /// ``edit(dryRun:describedAs:_:)`` for who makes it again when it failed.
    ///
    /// - Parameters:
    ///   - attempt: a new one, or that of the edit that failed: if that was made nonetheless, it is not made
    ///     twice.
    ///   - successor: given the path of the file that takes the document's name, before it does, if there is to
    ///     be another one.
    package func edit(
        describedAs description: String, attempt: inout EditAttempt,
        successor: (String) -> Void,
        _ change: (inout EditableDocument) throws(Failure) -> [Change]
    ) throws(Failure) -> Edited {
        try claimed { (claim) throws(Failure) in
            let (before, stamp) = try read(claim)
            if attempt.isMade(before, at: path, claim) { return Edited([], repairs: []) }
            let parsed = try parse(before)
            var document = parsed.document
            var edited = Edited(try change(&document), repairs: parsed.repairs)
            if edited.changes.isEmpty { return edited }
            let after = try encode(document, replacing: before)
            attempt.begin(after)
            edited.historyProblem = try write(
                after, over: before, since: stamp, claim, describedAs: description, successor)
            try claim.end(noted(after, over: before))
            return edited
        }
    }

    /// Does something under the document's claim; anew where others have written to it or put another file in
    /// its place before that was written, bounded.
    private func claimed<Result>(
        _ body: (consuming FileClaim) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let deadline = MonotonicClock.after(milliseconds: UInt64(FileClaim.patience))
        while true {
            do throws(Failure) { return try body(try FileClaim(path, named: name)) } catch {
                guard error.isReplaced else { throw error }
                if MonotonicClock.now >= deadline { throw FileClaim.replaced(name) }
            }
        }
    }

    /// ``edit(dryRun:describedAs:_:)`` with commands of the editing language.
    ///
    /// - Parameter script: where the commands come from, for messages.
    package func apply(
        _ edits: [Edit], from script: String? = nil, dryRun: Bool = false
    ) throws(Failure) -> Edited {
        let words = Edit.text(of: edits.first?.words ?? [])
        let shown = words.count > 200 ? words.prefix(200) + "…" : words
        let more = edits.count > 1 ? " and \(edits.count - 1) more" : ""
        return try edit(dryRun: dryRun, describedAs: shown + more) {
            (document) throws(Failure) in
            do throws(EditError) { return try document.apply(edits) } catch {
                throw Failure(script.map { "\(name): \($0)" } ?? name, error)
            }
        }
    }

    /// What commands of the editing language would make of a document that is in no file yet.
    package static func preview(
        _ edits: [Edit], of document: EditableDocument, named name: String
    ) throws(Failure) -> Edited {
        var document = document
        do throws(EditError) { return Edited(try document.apply(edits), repairs: []) } catch {
            throw Failure(name, error)
        }
    }

    /// Puts another content in the place of the whole document, under its lock.
    ///
    /// - Returns: why that cannot be undone; `nil` if it can.
    package func replace(
        with bytes: [UInt8], describedAs description: String
    ) throws(Failure) -> String? {
        // Also where nothing is to be changed: who may not write is told so.
        do throws(Errno) { try WholeFile.checkWritable(path) } catch { throw Failure(name, error) }
        return try claimed { (claim) throws(Failure) in
            let (before, stamp) = try read(claim)
            if bytes == before { return nil }
            let problem = try write(
                bytes, over: before, since: stamp, claim, describedAs: description)
            try claim.end(noted(bytes, over: before))
            return problem
        }
    }

    private func encode(
        _ document: EditableDocument, replacing before: [UInt8]?
    ) throws(Failure) -> [UInt8] {
        do throws(DocumentError) { return try document.bytes(replacing: before) } catch {
            throw Failure(name, error)
        }
    }

    /// Writes the document and notes that in its history.
    ///
    /// - Returns: why it cannot be undone; `nil` if it can.
    private func write(
        _ after: [UInt8], over before: [UInt8], since stamp: FileStamp,
        _ claim: borrowing FileClaim, describedAs description: String,
        _ successor: (String) -> Void = { _ in }
    ) throws(Failure) -> String? {
        var journal = HistoryJournal(of: claim.file, isCoordinated: claim.isCoordinated)
        let written = try put(after, since: stamp, claim, successor)
        defer { withExtendedLifetime(written) {} }
        journal.follow(written)
        // The document is what matters: a history that cannot be had is said, not fatal.
        do throws(Errno) {
            let isKept = try journal.record(
                after, over: before, describedAs: description, at: path)
            if isKept || claim.isCoordinated { return nil }
            return HistoryProblem.unkept("it cannot be undone")
        } catch {
            if claim.isCoordinated { return nil }
            return "it cannot be undone as long as \(HistoryProblem.unread(error))"
        }
    }

    private func noted(
        _ after: [UInt8], over before: [UInt8], for former: HistorySteps? = nil
    ) -> NotedChange {
        NotedChange(path: path, name: name, before: before, after: after, former: former)
    }

    /// The states there are, with what the document holds `now` as the current one.
    private func states(
        _ journal: HistoryJournal, _ now: [UInt8]
    ) throws(Failure) -> HistorySteps {
        do throws(Errno) { return try journal.load(current: now, of: path) } catch {
            throw Failure(.inputOutput, "\(name): \(HistoryProblem.unread(error))")
        }
    }

    /// Writes the document. If another file has its name then, that one, locked: the claim goes on
    /// with it until the history is written too.
    private func put(
        _ bytes: [UInt8], since stamp: FileStamp, _ claim: borrowing FileClaim,
        _ successor: (String) -> Void
    ) throws(Failure) -> OwnedDescriptor? {
        do throws(Errno) {
            if claim.isCoordinated {
                try MountDraft.write(claim.file) { (_) throws(Errno) in
                    try WholeFile.overwrite(claim.file, with: bytes)
                }
                return nil
            }
            return try WholeFile.save(path, with: bytes, over: claim.file, since: stamp) {
                file, temporary in
                claim.handOver(file)
                successor(temporary)
            }
        } catch { throw Failure(writing: name, error) }
    }

    // MARK: History

    /// Says whether a step may be undone or redone, by throwing if not: nothing is changed then.
    package typealias StepCheck = (PlannedStep) throws(Failure) -> Void

    /// Goes one step back; `nil` if there is none.
    package func undo() throws(Failure) -> HistoryStep? {
        var attempt = StepAttempt()
        return try step(isUndo: true, attempt: &attempt, successor: { _ in }, check: { _ in })
    }

    /// Takes the last undo back; `nil` if there is none.
    package func redo() throws(Failure) -> HistoryStep? {
        var attempt = StepAttempt()
        return try step(isUndo: false, attempt: &attempt, successor: { _ in }, check: { _ in })
    }

    /// ``undo()`` or ``redo()`` for who does it again when it failed.
    ///
    /// - Parameters:
    ///   - attempt: a new one, or that of the step that failed: if that was made nonetheless, no second one is.
    ///   - successor: as of ``edit(describedAs:attempt:successor:_:)``.
    ///   - check: may refuse the step.
    package func step(
        isUndo: Bool, attempt: inout StepAttempt, successor: (String) -> Void, check: StepCheck
    ) throws(Failure) -> HistoryStep? {
        try claimed { (claim) throws(Failure) in
            try step(isUndo, claim, &attempt, successor, check)
        }
    }

    private func step(
        _ isUndo: Bool, _ claim: consuming FileClaim, _ attempt: inout StepAttempt,
        _ successor: (String) -> Void, _ check: StepCheck
    ) throws(Failure) -> HistoryStep? {
        let (now, stamp) = try read(claim)
        if let made = attempt.made(now, isUndo: isUndo) { return made }
        let direction = isUndo ? -1 : 1
        var journal = HistoryJournal(of: claim.file, isCoordinated: claim.isCoordinated)
        var steps = try states(journal, now)
        let reached: (step: HistoryStep, bytes: [UInt8])?
        do throws(Errno) { reached = try journal.reach(direction, in: &steps) } catch {
            throw Failure(name, error)
        }
        guard let (target, bytes) = reached else {
            // There is no way either if the daemon that kept the versions is gone.
            try FoundFile.check(path, named: name)
            return nil
        }
        var taken = isUndo ? steps.currentStep : target
        taken?.passedOver = target.passedOver
        if let taken {
            let planned = PlannedStep(
                taken: taken, target: target, bytes: bytes, now: now, isUndo: isUndo)
            try check(planned)
            attempt.begin(planned)
        }
        // What no journal gives back must be among the versions, where those can be had.
        if steps.currentStep.flatMap({ journal.bytes(of: $0) }) != now {
            if claim.isCoordinated {
                try? claim.keepVersion()
            } else if !steps.list.contains(where: { journal.bytes(of: $0) == now }) {
                throw Failure(
                    .inputOutput,
                    "\(name): nothing was changed: what it holds now could not be come back to, as "
                        + "it cannot be kept in \(HistoryPlace.root ?? "a history")")
            }
        }
        let written = try put(bytes, since: stamp, claim, successor)
        defer { withExtendedLifetime(written) {} }
        journal.follow(written)
        let former = steps
        steps.move(direction)
        if !journal.store(steps, at: path), steps.target(1) != nil {
            taken?.historyProblem = HistoryProblem.unkept("it cannot be redone")
        }
        try claim.end(noted(bytes, over: now, for: former))
        return taken
    }

    /// Every state there is a way back or forth to, damaged ones left out, oldest first, and which one is
    /// current.
    package func history() throws(Failure) -> (steps: [HistoryStep], current: Int) {
        let claim = try FileClaim(path, named: name, isReader: true)
        let now = try read(claim).bytes
        let journal = HistoryJournal(of: claim.file, isCoordinated: claim.isCoordinated)
        var steps = try states(journal, now)
        journal.dropDamaged(&steps)
        return (steps.list, steps.current)
    }

    /// When the states came to be that are in the history already: what is noted there from now on is none of
    /// them, whatever its ``HistoryStep/time`` says.
    package func notedTimes() -> Set<Int64> {
        guard let file = try? OwnedDescriptor.open(path, O_RDONLY) else { return [] }
        let container = try? PathAttributes.value("user.shapeedit.container", of: path)
        return HistoryJournal(of: file, isCoordinated: container != nil).times
    }
}
