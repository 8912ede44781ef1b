internal import SystemCalls

/// The way back and forth through the states of something, as values. Any thread.
public final class UndoManager<State: Sendable>: Sendable {
    private struct Step {
        var state: State
        var name: String
    }
    private struct Steps {
        var undone: [Step] = []
        var redone: [Step] = []
        /// How many groups are open, and what was there before the outermost.
        var depth = 0
        var group: Step?
    }
    /// Steps back that are kept, at least 1; the oldest go first.
    public let limit: Int
    private let steps = Lock(Steps())

    /// Keeps so many steps.
    public init(limit: Int = 100) { self.limit = max(1, limit) }

    /// Notes that something is about to change.
    ///
    /// - Parameters:
    ///   - state: what there is before. Inside a group only the first counts.
    ///   - name: for people, as in "Undo Typing".
    public func register(_ state: State, named name: String = "") {
        steps.withLock { steps in
            steps.redone = []
            if steps.depth == 0 {
                steps.undone.append(Step(state: state, name: name))
                cut(&steps)
            } else if steps.group == nil {
                steps.group = Step(state: state, name: name)
            } else if steps.group?.name.isEmpty == true {
                steps.group?.name = name
            }
        }
    }

    private func cut(_ steps: inout Steps) {
        if steps.undone.count > limit { steps.undone.removeFirst(steps.undone.count - limit) }
    }

    /// What is registered until the matching ``endGroup(named:)`` is one step. Groups nest.
    public func beginGroup() { steps.withLock { $0.depth += 1 } }

    /// Ends a group; the outermost becomes a step if anything was registered in it.
    ///
    /// - Parameter name: of the step; empty: that of the first registration that has one.
    public func endGroup(named name: String = "") {
        steps.withLock { steps in
            guard steps.depth > 0 else { return }
            steps.depth -= 1
            guard steps.depth == 0, var step = steps.group else { return }
            steps.group = nil
            if !name.isEmpty { step.name = name }
            steps.undone.append(step)
            cut(&steps)
        }
    }

    /// The state before the last step; `nil` if there is none, or while a group is open.
    ///
    /// - Parameter current: what there is now, to come back to.
    public func undo(from current: State) -> State? {
        steps.withLock { steps in
            guard steps.depth == 0, let step = steps.undone.popLast() else { return nil }
            steps.redone.append(Step(state: current, name: step.name))
            return step.state
        }
    }

    /// The state that the last ``undo(from:)`` came from; `nil` if there is none.
    public func redo(from current: State) -> State? {
        steps.withLock { steps in
            guard steps.depth == 0, let step = steps.redone.popLast() else { return nil }
            steps.undone.append(Step(state: current, name: step.name))
            return step.state
        }
    }

    /// The name of what ``undo(from:)`` would undo; `nil` if there is nothing.
    public var undoName: String? { steps.withLock { $0.undone.last?.name } }
    /// The name of what ``redo(from:)`` would do again; `nil` if there is nothing.
    public var redoName: String? { steps.withLock { $0.redone.last?.name } }

    /// Forgets all steps.
    public func removeAll() {
        steps.withLock { steps in
            (steps.undone, steps.redone, steps.group) = ([], [], nil)
        }
    }
}
