internal import SystemCalls

/// Which process started which, of those that use documents; known when they have ended too.
///
/// A shell waits for what it runs, and then goes on with what that has left.
package final class Descent: Sendable {
    private struct Link {
        var parent: Int32
        /// When that was looked at, of ``MonotonicClock``.
        var at: UInt64
    }

    /// How long a look counts, in nanoseconds: the number may be another process's by then.
    private static let lifetime: UInt64 = 10_000_000_000
    private static let most = 4_096

    private let links = Lock<[Int32: Link]>([:])

    package init() {}

    /// A process uses a document: notes who started it, and those above. Reads /proc for processes that
    /// were not seen lately.
    ///
    /// - Returns: those, and when each of them began: the number may have been another process's.
    package func note(_ process: Int32) -> [(process: Int32, start: UInt64)] {
        let now = MonotonicClock.now
        var next = process
        var met: [(process: Int32, start: UInt64)] = []
        for _ in 0..<CallerProcess.deepest where next > 1 {
            let known = links.withLock { $0[next] }
            if let known, now < known.at + Self.lifetime { return met }
            guard let state = Processes.state(of: next) else { return met }
            links.withLock { links in
                if links.count >= Self.most { links.removeAll(keepingCapacity: true) }
                links[next] = Link(parent: state.parent, at: now)
            }
            met.append((next, state.start))
            next = state.parent
        }
        return met
    }

    /// Whether `other` started `process`, or started who did, and so on, as far as that was noted.
    package func hasStarted(_ other: Int32, _ process: Int32) -> Bool {
        links.withLock { links in
            var next = process
            for _ in 0..<CallerProcess.deepest {
                guard let link = links[next] else { return false }
                if link.parent == other { return true }
                next = link.parent
            }
            return false
        }
    }
}
