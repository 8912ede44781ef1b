package import Catalog
package import Model

/// Reads the change log of an open container from a place of its own: from memory while it keeps up,
/// from the catalog while it is behind.
///
/// For one thread at a time, which may wait for the catalog here. ``end()`` has to be called.
package final class ChangeReader: Sendable {
    /// What is next.
    package enum Portion: Sendable {
        /// The next changes; none if there are none yet.
        case changes([ChangeRow])
        /// These are not known any more; what follows them is next.
        case lost(ClosedRange<ChangeSequence>)
    }

    private let container: Container
    private let subscription: ChangeFeed.Subscription

    /// - Parameters:
    ///   - sequence: the last change that is known; `nil`: the last there is.
    ///   - wake: called when there is something, or will be once the log is flushed; it may only
    ///     note that (``ChangeFeed``).
    package init(
        _ container: Container, after sequence: ChangeSequence?,
        wake: @escaping @Sendable () -> Void
    ) {
        self.container = container
        subscription = container.log.feed.subscribe(after: sequence, wake: wake)
    }

    /// The next changes, at most `limit`. They count as read.
    package func next(atMost limit: Int) throws(Failure) -> Portion {
        switch container.log.feed.take(subscription, atMost: limit) {
        case .changes(let rows): return .changes(rows)
        case .behind(let cursor, let head):
            let rows = try container.query { (database) throws(Failure) in
                try database.changes(after: cursor, limit: limit)
            }
            let first = rows.first?.sequence ?? head + 1
            if first > cursor + 1 {
                container.log.feed.skip(subscription, to: first - 1)
                return .lost(cursor + 1...first - 1)
            }
            if let last = rows.last { container.log.feed.skip(subscription, to: last.sequence) }
            return .changes(rows)
        }
    }

    /// Ends the reading.
    package func end() { container.log.feed.cancel(subscription) }
}
