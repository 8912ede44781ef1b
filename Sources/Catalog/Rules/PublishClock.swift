package import Model

/// Gives published versions their moments: each later than all before, whatever the wall clock does.
///
/// What was published before a moment that recovery trusts is taken for durable, and the last
/// version of a document for the current one. A clock that is set back, as after a power loss where
/// its battery is empty, would turn both around.
package struct PublishClock: Sendable {
    private var last: Timestamp

    /// - Parameter last: no version was published after that.
    package init(after last: Timestamp) { self.last = last }

    /// The next moment: now, or if that is not later than the last, a nanosecond after it.
    package mutating func next(_ now: Timestamp) -> Timestamp {
        last = max(now, last.successor)
        return last
    }
}
