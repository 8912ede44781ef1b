internal import Model
internal import Promises
internal import SystemCalls

/// Why the contents of nodes did not come, or were not let go: what `user.shapeedit.error` and
/// `user.shapeedit.error.kind` tell. Any thread.
final class Reasons: Sendable {
    struct Reason {
        let text: String
        /// What it is of that which keeps contents from coming; `nil` of what was refused here.
        let kind: ContentProblem.Kind?
    }

    private let known = Lock<[NodeNumber: Reason]>([:])
    /// Reasons that are remembered.
    private static let most = 10_000

    subscript(_ node: NodeNumber) -> Reason? { known.withLock { $0[node] } }

    /// Remembers why nothing came of what was asked for.
    func note(_ text: String, for node: NodeNumber) { note(Reason(text: text, kind: nil), node) }

    /// Remembers why a content did not come.
    func note(_ problem: ContentProblem, for node: NodeNumber) {
        note(Reason(text: problem.reason, kind: problem.kind), node)
    }

    private func note(_ reason: Reason, _ node: NodeNumber) {
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[node] = reason
        }
    }

    /// Something came of what was asked for.
    func forget(_ nodes: some Sequence<NodeNumber>) {
        known.withLock { known in
            if known.isEmpty { return }
            for node in nodes { known[node] = nil }
        }
    }
}
