import Editing
import PathText

// How the document, the file and the steps in between stay together.
extension EditorState {
    /// Makes a step at once; it is saved later.
    mutating func make(_ step: Step, now: Int) -> Bool {
        var changed = document
        let changes: [Change]
        do throws(EditError) { changes = try step.apply(to: &changed) } catch {
            say(error.description, .bad)
            return false
        }
        guard !changes.isEmpty else {
            say("\(step.description): nothing changes")
            return false
        }
        say(changes[0].description + (changes.count > 1 ? " (and \(changes.count - 1) more)" : ""))
        if pending.isEmpty { firstEdit = now }
        let isSoon = now - lastEdit < Self.quietTime
        lastEdit = now
        if pending.isEmpty || !isSoon || !pending[pending.count - 1].gather(step) {
            pending.append(step)
        }
        undone = []
        show(changed)
        return true
    }

    /// Shows a document, with the same part selected as far as it is still there. Where others took
    /// the chosen parts out, nothing is selected and keys do again what is usual; where that was an
    /// edit of one's own, the part that is in the place now is selected.
    mutating func show(_ new: EditableDocument, isOthers: Bool = false) {
        let references = ([selection] + marks.sorted()).filter(parts.indices.contains).map {
            PartReference($0, in: parts)
        }
        let isSelected = parts.indices.contains(selection)
        let wasMarked = !marks.isEmpty
        document = new
        parts = Editor.parts(of: new)
        let found = references.map { $0.find(in: parts) }
        if isSelected, let first = found.first, let place = first { selection = place }
        marks = Set(found.dropFirst(isSelected ? 1 : 0).compactMap { $0 })
        let isGone = isSelected && found.first == .some(nil) || wasMarked && marks.isEmpty
        guard isOthers, isGone else { return }
        selection = Self.noSelection
        tool = Self.usualTool(type)
        drag = nil
    }

    /// Hands over what is not saved; no more than one save is under way. A file that is gone is made
    /// anew.
    mutating func save(_ effects: inout [EditorEffect]) {
        guard saving.isEmpty, !isCreating, isGone || !pending.isEmpty else { return }
        saving = pending
        pending = []
        retryAt = nil
        isCreating = isGone
        effects.append(isGone ? .create(document) : .save(saving, shown: document))
    }

    /// Ends as soon as everything is in the file. One that others removed stays so if there is nothing
    /// to save.
    mutating func quit(_ effects: inout [EditorEffect]) {
        isQuitting = true
        if isUnsaved || isStepping {
            save(&effects)
            if tone != .bad { say("Saving; Q leaves without") }
        } else {
            if isGone { say("It was deleted and is not written anew", .bad) }
            effects.append(.quit)
        }
    }

    mutating func takeFile(
        _ event: EditorEvent, _ now: Int, _ effects: inout [EditorEffect]
    ) {
        switch event {
        case .loaded(let file):
            if settle(\.readProblem) { say("It can be read again", .good) }
            let isBack = isGone && !isCreating
            guard file != base || isBack else { break }
            goneBecause = nil
            if isBack { say("It is there again", .good) }
            let changes = base.differences(to: file)
            rebase(onto: file, &effects)
            guard tone != .bad || changes.isEmpty, let first = changes.first else { break }
            let more = changes.count > 1 ? " (and \(changes.count - 1) more)" : ""
            say("Changed by others: \(first)\(more)", .good)
        case .unreadable(let reason):
            say(reason, .bad)
            readProblem = message
        case .moved(let path):
            name = path.pathNames.last.map(String.init) ?? path
            say("Moved by others: it is \(path) now", .good)
        case .gone(let reason, let done):
            goneBecause = reason
            takeBack(done: done, now)
            say(reason, .bad)
            stopWaiting()
        case .isBack(let file):
            takeBack(done: 0, now)
            (goneBecause, isCreating) = (nil, false)
            say("It is there again", .good)
            rebase(onto: file, &effects)
        case .saved(let file):
            // Who makes the file anew begins a history.
            if isCreating { made = [] } else { noteMade(saving) }
            saving = []
            rebase(onto: file, &effects)
            if isCreating {
                say("It was deleted, and is written anew", isQuitting ? .bad : .good)
                (goneBecause, isCreating) = (nil, false)
            } else if settle(\.saveProblem) || message == Self.savingMessage {
                say("Saved", .good)
            } else if tone != .bad {
                tone = .plain
            }
            stepWhenSaved(&effects)
        case .unkept(let reason):
            // Once, and at the end: as long as it is said nothing of what others change is.
            if !isUnkeptSaid || isQuitting { say("Saved, but \(reason)", .bad) }
            isUnkeptSaid = true
        case .conflict(let reason, let done, let file):
            let mine = document
            let isFound = done < saving.count
            takeBack(done: done, now)
            if isFound { pending.removeFirst() }
            effects.append(.keepCopy(mine))
            if let file { rebase(onto: file, &effects, isCopied: true) }
            say("Not saved: \(reason)", .bad)
            if file == nil { pending = [] }
            stopWaiting()
        case .saveFailed(let reason, let done):
            takeBack(done: done, now)
            isCreating = false
            retryAt = now + Self.retryTime
            say("Not saved: \(reason)", .bad)
            if isEnding {
                effects.append(.keepCopy(document))
                pending = []
            } else if isQuitting {
                say("Not saved: \(reason); Q leaves without saving", .bad)
                isQuitting = false
            }
            saveProblem = message
            stopWaiting()
        case .stepped(let what, let isUndo, let file, let state):
            rebase(onto: file, &effects, isOthers: false)
            stepping = nil
            noteStepped(what, isUndo, state, now)
        case .redone(let file):
            rebase(onto: file, &effects)
            stepping = nil
            if let (step, _) = undone.popLast() { noteMade([step]) }
            say("Nothing to redo")
        case .refused(let what, let isUndo, let file):
            rebase(onto: file, &effects)
            stepping = nil
            let key = isUndo ? "u again undoes" : "U again redoes"
            say("Changed by others meanwhile; \(key): \(what)", .bad)
            isLoud = true
            // Those that followed at once did not know that either.
            held = Array(held.drop(while: Self.steps.contains))
        case .stepFailed(let reason):
            say(reason, .bad)
            stepping = nil
        case .keptCopy(let name): say("Your text is in \"\(name)\". \(message)", .bad)
        case .copyFailed(let reason): say("No copy: \(reason). \(message)", .bad)
        default: break
        }
        release(now, &effects)
        if isQuitting { quit(&effects) }
    }

    /// A problem is over; whether it is still what the screen says.
    private mutating func settle(_ problem: WritableKeyPath<EditorState, String?>) -> Bool {
        defer { self[keyPath: problem] = nil }
        return self[keyPath: problem] == message
    }

    /// What was handed over is unsaved again, but for the first so many steps.
    private mutating func takeBack(done: Int, _ now: Int) {
        noteMade(saving.prefix(done))
        pending = saving.dropFirst(done) + pending
        saving = []
        // What was tried may be in the file, so that it stays what it was.
        lastEdit = now - Self.quietTime
    }

    /// Makes the steps that are not in the file again on what it holds now. What cannot be made any
    /// more is kept in a copy; what is being saved is judged when its answer comes.
    private mutating func rebase(
        onto file: EditableDocument, _ effects: inout [EditorEffect], isCopied: Bool = false,
        isOthers: Bool = true
    ) {
        let mine = document
        base = file
        var new = file
        for step in saving {
            do throws(EditError) { _ = try step.apply(to: &new) } catch { continue }
        }
        var kept: [Step] = []
        var failure: (step: Step, reason: EditError)?
        for step in pending {
            do throws(EditError) {
                _ = try step.apply(to: &new)
                kept.append(step)
            } catch { failure = failure ?? (step, error) }
        }
        pending = kept
        show(new, isOthers: isOthers)
        guard let failure else { return }
        stopWaiting()
        if !isCopied { effects.append(.keepCopy(mine)) }
        say("Others changed this: \(failure.step.description): \(failure.reason.reason)", .bad)
    }
}
