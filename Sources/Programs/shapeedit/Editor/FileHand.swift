import DocumentFiles
import DocumentKit
import Editing
import Editor
import Model
import SystemCalls

/// What the thread of the document knows, and does with the file.
struct FileHand: ~Copyable {
    private var place: FollowedFile
    /// The state of the file that was read last; nil if it was gone.
    private var seen: FileStamp?
    private let inbox: EventInbox<EditorEvent>
    /// The step that could not be saved, if it is to be tried again.
    private var failed: (step: Step, attempt: EditAttempt)?
    /// Undo or redo that failed.
    private var failedStep = StepAttempt()
    private var own: OwnStates

    private var file: DocumentFile { place.file }

    init(
        _ file: DocumentFile, _ loaded: DocumentFile.Loaded, _ inbox: EventInbox<EditorEvent>
    ) {
        place = FollowedFile(file)
        seen = loaded.stamp
        own = OwnStates(loaded.bytes, noted: file.notedTimes())
        self.inbox = inbox
    }

    /// Whether the document is anywhere; tells where, if that is new.
    ///
    /// - Parameter done: how many steps of a save that is under way are in the file.
    private mutating func find(done: Int = 0) -> Bool { tell(place.find(), done) }

    private mutating func tell(_ whereabouts: FollowedFile.Whereabouts, _ done: Int = 0) -> Bool {
        switch whereabouts {
        case .same: return true
        case .moved:
            inbox.put(.moved(to: file.path))
            return true
        case .deleted: return lose("It was deleted; w writes it anew", done)
        case .unmounted: return lose("The container it is in is not mounted", done)
        }
    }

    private mutating func lose(_ reason: String, _ done: Int) -> Bool {
        seen = nil
        inbox.put(.gone(reason, done: done))
        return false
    }

    mutating func look() {
        let stamp = file.stamp()
        guard stamp != seen else { return }
        let whereabouts = place.find()
        // Another container's document may be there as long as one's own is lost, which has been told.
        if seen == nil, whereabouts == .unmounted { return }
        guard tell(whereabouts) else { return }
        seen = stamp
        read { .loaded($0) }
    }

    private mutating func read(_ event: (EditableDocument) -> EditorEvent) {
        do throws(Failure) {
            let document = try load()
            // It may have been lost right after that, which has been told.
            if seen != nil { inbox.put(event(document)) }
        } catch { inbox.put(.unreadable(error.message)) }
    }

    /// What the file holds now, and holds on to that file.
    ///
    /// - Parameter done: as of ``find(done:)``.
    private mutating func load(done: Int = 0) throws(Failure) -> EditableDocument {
        let loaded = try file.load()
        seen = loaded.stamp
        own.noteRead(loaded.bytes)
        _ = find(done: done)
        return loaded.document
    }

    mutating func perform(_ effect: EditorEffect) {
        switch effect {
        case .save(let steps, let shown): save(steps, shown)
        case .create(let document): create(document)
        case .load: read { .loaded($0) }
        case .undo: step(isUndo: true)
        case .redo(let undone): step(isUndo: false, undone)
        case .keepCopy(let document): keepCopy(document)
        case .suspend, .redraw, .quit: break
        }
    }

    private mutating func keepCopy(_ document: EditableDocument) {
        do throws(Failure) {
            let whereabouts = place.find()
            if whereabouts == .moved { inbox.put(.moved(to: file.path)) }
            let isMounted = whereabouts != .unmounted
            let name = try ConflictCopy.keep(of: file.path, isMounted: isMounted) {
                (path, mode) throws(Failure) in
                try DocumentFile.create(path, document, mode: mode)
            }
            inbox.put(.keptCopy(name))
        } catch { inbox.put(.copyFailed(error.message)) }
    }

    private mutating func save(_ steps: [Step], _ shown: EditableDocument) {
        var done = 0
        var tries = 0
        var historyProblem: String?
        own.forgetRefusal()
        failedStep = StepAttempt()
        while done < steps.count {
            guard find(done: done) else { return }
            var refusal: EditError?
            let step = steps[done]
            // It may have been made when it failed before.
            var attempt = failed?.step == step ? failed?.attempt ?? EditAttempt() : EditAttempt()
            failed = nil
            do throws(Failure) {
                let edited = try file.edit(
                    describedAs: step.description, attempt: &attempt,
                    successor: { place.follow(successor: $0) }
                ) { document throws(Failure) in
                    do throws(EditError) { return try step.apply(to: &document) } catch {
                        refusal = error
                        throw Failure(.badData, error.description)
                    }
                }
                if let written = attempt.written { own.noteMade(written) }
                historyProblem = edited.historyProblem ?? historyProblem
                done += 1
            } catch {
                if refusal == nil { failed = (step, attempt) }
                tries += 1
                // It was moved just now.
                if file.stamp() == nil, tries < 3 { continue }
                tell(historyProblem)
                if let refusal {
                    let now = try? file.load().document
                    inbox.put(.conflict(refusal.description, done: done, file: now))
                } else if error.kind == .badData {
                    inbox.put(.conflict(error.message, done: done, file: nil))
                } else {
                    inbox.put(.saveFailed(error.message, done: done))
                }
                return
            }
        }
        tell(historyProblem)
        do throws(Failure) {
            let document = try load(done: done)
            inbox.put(.saved(document))
        } catch { inbox.put(.saved(shown)) }
    }

    private func tell(_ historyProblem: String?) {
        if let historyProblem { inbox.put(.unkept(historyProblem)) }
    }

    private mutating func create(_ document: EditableDocument) {
        if place.find() == .unmounted {
            inbox.put(.saveFailed("the container it is in is not mounted", done: 0))
            return
        }
        do throws(Failure) {
            try DocumentFile.create(file.path, document)
            seen = file.stamp()
            _ = find()
            inbox.put(.saved(document))
        } catch {
            let problem = error.message
            // It may be there again, as when its mount is.
            do throws(Failure) {
                let found = try load()
                // With what is unsaved in it: then it was made, though that failed.
                inbox.put(found == document ? .saved(document) : .isBack(found))
            } catch {
                inbox.put(.saveFailed(problem, done: 0))
            }
        }
    }

    /// - Parameter undone: when the state came to be that was undone last, for redo.
    private mutating func step(isUndo: Bool, _ undone: Int64? = nil) {
        var own = own
        var attempt = failedStep
        failedStep = StepAttempt()
        var others: HistoryStep?
        func check(_ step: PlannedStep) throws(Failure) {
            if own.may(step) { return }
            others = step.taken
            throw Failure(.temporary, "others did it")
        }
        do throws(Failure) {
            guard find() else { throw Failure(.noInput, "There is no document to go back in") }
            let made: HistoryStep?
            do {
                defer { self.own = own }
                made = try file.step(
                    isUndo: isUndo, attempt: &attempt,
                    successor: { place.follow(successor: $0) }, check: check)
            }
            tell(made?.historyProblem)
            let isRedone = made == nil ? try isInEffect(undone) : false
            let document = try loadMoved()
            inbox.put(
                isRedone
                    ? .redone(file: document)
                    : .stepped(
                        made?.description, isUndo: isUndo, file: document, state: made?.time))
        } catch {
            var problem = error.message
            if let others {
                do throws(Failure) {
                    let document = try loadMoved()
                    inbox.put(.refused(others.description, isUndo: isUndo, file: document))
                    return
                } catch { problem = error.message }
            }
            failedStep = attempt
            inbox.put(.stepFailed(problem))
        }
    }

    /// What the file holds after something was done there, since when somebody may have moved it.
    private mutating func loadMoved() throws(Failure) -> EditableDocument {
        do throws(Failure) { return try load() } catch {
            let whereabouts = place.find()
            guard whereabouts == .moved, tell(whereabouts) else { throw error }
            return try load()
        }
    }

    /// Whether the state that came to be then is one of those that led to what the document holds.
    private func isInEffect(_ time: Int64?) throws(Failure) -> Bool {
        guard let time else { return false }
        let (steps, current) = try file.history()
        return steps.prefix(current + 1).contains { $0.time == time }
    }
}
