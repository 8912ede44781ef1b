internal import Model
internal import SystemCalls

/// Why the contents of nodes did not come, or were not let go: what `user.shapeedit.error` tells. Any
/// thread.
final class Reasons: Sendable {
    private let known = Lock<[NodeNumber: String]>([:])
    /// Reasons that are remembered.
    private static let most = 10_000

    subscript(_ node: NodeNumber) -> String? { known.withLock { $0[node] } }

    /// Remembers why nothing came of what was asked for.
    func note(_ reason: String, for node: NodeNumber) {
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
