package import Model

/// Gives published versions their moments: each later than all before, whatever the wall clock does.
///
/// What was published before a moment that recovery trusts is taken for durable, and the last
/// version of a document for the current one. A clock that is set back, as after a power loss where
/// its battery is empty, would turn both around.
///
/// Until the wall clock has caught up the time between two publishes counts. Moments that only
/// follow one another would all lie within one save: `Retention` would keep the last of them.
package struct PublishClock: Sendable {
    private var last: Timestamp
    /// When that was given, by a clock that nobody sets; `nil` if it was before this mount.
    private var lastTick: UInt64?

    /// The longest step while the wall clock is behind, in nanoseconds. It is longer than the steps
    /// of one save, and not much, so that the wall clock catches up whenever it is quiet.
    static let longestStep: UInt64 = 3_000_000_000

    /// - Parameter last: no version was published after that.
    package init(after last: Timestamp) { self.last = last }

    /// The next moment: now, or if that is not later than the last, so much later as has passed.
    ///
    /// - Parameter tick: nanoseconds of a clock that nobody sets.
    package mutating func next(_ now: Timestamp, at tick: UInt64) -> Timestamp {
        let step = step(now, tick)
        lastTick = tick
        last = now > last ? now : max(last.successor, Self.later(last, by: step))
        return last
    }

    /// How much time counts since the last moment, in nanoseconds.
    private func step(_ now: Timestamp, _ tick: UInt64) -> UInt64 {
        if let lastTick { return tick > lastTick ? min(tick - lastTick, Self.longestStep) : 0 }
        // Of the time between two mounts nothing is known. A mount begins with the wall clock's
        // moment where that is right.
        return last.secondsSince(now) > 1 ? Self.longestStep : 0
    }

    private static func later(_ moment: Timestamp, by nanoseconds: UInt64) -> Timestamp {
        let sum = moment.nanoseconds + Int64(nanoseconds)
        return Timestamp(
            seconds: moment.seconds + sum / 1_000_000_000, nanoseconds: sum % 1_000_000_000)
    }
}
