import Editing
import Terminal

// Undo and redo, which work on the file: it has one history for all who change it.
extension EditorState {
    /// How many steps are known to be one's own.
    private static let ownLimit = 100

    /// The keys that undo and redo.
    static let steps: [InputEvent] = [
        .key(.character("u")), .key(.character("U")), .key(.character("r"), .control),
    ]

    /// What is not saved is one step more in the history, which is where undo works.
    mutating func step(isUndo: Bool, _ effects: inout [EditorEffect]) {
        guard !isStepping else { return }
        if let goneBecause { return say(goneBecause, .bad) }
        stepping = .waiting(isUndo: isUndo)
        stepWhenSaved(&effects)
    }

    /// Begins with undo or redo if that has waited for nothing else than this moment.
    mutating func stepWhenSaved(_ effects: inout [EditorEffect]) {
        guard case .waiting(let isUndo) = stepping else { return }
        save(&effects)
        guard saving.isEmpty else { return }
        stepping = .underWay
        effects.append(isUndo ? .undo : .redo(undone: undone.last?.state))
    }

    /// Gives undo or redo up that waits for what could not be saved: in its place it would take back what
    /// was done before, or what others did.
    mutating func stopWaiting() { if stepping != .underWay { stepping = nil } }

    mutating func noteMade(_ steps: some Sequence<Step>) {
        made = (made + steps).suffix(Self.ownLimit)
    }

    /// The file went back or forth over what is called so; nil if there was nothing. An edit after an undo takes
    /// the place of what was undone: where others made one, what was undone here is made again.
    ///
    /// - Parameter state: when the file had come to hold that.
    mutating func noteStepped(_ what: String?, _ isUndo: Bool, _ state: Int64?, _ now: Int) {
        let known = undone.firstIndex { $0.state == state }
        if let what {
            say((isUndo ? "Undone: " : "Redone: ") + what)
            let name = what.onOneLine
            if let known {
                // Others may have redone it meanwhile.
                let entry = undone.remove(at: known)
                if isUndo { undone.append(entry) } else { noteMade([entry.step]) }
            } else if isUndo,
                let place = made.lastIndex(where: { $0.description.onOneLine == name })
            {
                undone.append((made.remove(at: place), state))
            }
        } else if !isUndo, let (step, state) = undone.popLast() {
            let rest = undone
            let isMade = make(step, now: now)
            if isMade { say("Redone: \(step.description)") }
            undone = isMade ? rest : rest + [(step, state)]
        } else {
            say(isUndo ? "Nothing to undo" : "Nothing to redo")
        }
    }
}
