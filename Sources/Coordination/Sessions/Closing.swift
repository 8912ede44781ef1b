/// The closes of a write session that are under way: close(2) returns after the FLUSH, and the RELEASE
/// comes when the kernel gets to it, mostly at once.
///
/// Whoever looks for the document after the last close(2) has returned waits for the RELEASE, which
/// publishes. Programs that close at the same time are all flushed before the first RELEASE comes.
/// Nobody knows whether one comes at all: a dup of the descriptor may live on.
///
/// A part of its session: guarded by the volume's lock. Times are monotonic nanoseconds.
package struct Closing {
    private struct Waiting {
        var since: UInt64
        var until: UInt64
        var retry: @Sendable () -> Void
    }

    /// How long anybody waits for the RELEASE after a FLUSH. From when they ask: the process that
    /// closed may have waited for a processor until then, or the daemon's thread that has the RELEASE.
    package static let patience: UInt64 = 100_000_000
    /// How long after the FLUSH a wait in vain, or no RELEASE at all, tells that there is another descriptor.
    package static let certainty: UInt64 = 1_000_000_000

    private struct Flush {
        /// Which one opened the handle.
        var process: Int32
        /// When it last was flushed.
        var at: UInt64
    }

    /// Writing handles that were flushed and not written to since, as far as that is seen.
    private var flushed: [UInt64: Flush] = [:]
    /// Those that were flushed by the process that opened them.
    private var left: Set<UInt64> = []
    /// When any was last flushed after something was written, else 0.
    private var since: UInt64 = 0
    /// Until when that FLUSH itself may take, for a picture that is drawn first.
    private var flushingUntil: UInt64 = 0
    private var waiting: [Waiting] = []

    init() {}

    /// Whether every one of so many handles was flushed, something was written before, and the
    /// RELEASEs may still come.
    func isAwaited(of handles: Int) -> Bool { since > 0 && areFlushed(handles) }

    /// Whether every one of so many handles was flushed.
    func areFlushed(_ handles: Int) -> Bool { flushed.count == handles }

    /// Whether every one of so many handles that the process opened was flushed, so short a time ago that the
    /// RELEASE may still come. After that it has another descriptor, which the kernel may write by without
    /// telling.
    func areFlushed(_ handles: Int, of process: Int32, now: UInt64) -> Bool {
        flushed.values.count { $0.process == process && now < $0.at + Self.certainty } == handles
    }

    /// A descriptor of the handle is being closed.
    ///
    /// - Parameters:
    ///   - process: which one opened it.
    ///   - byOpener: by that process. Those that inherited descriptors close them as they end, and that
    ///     says nothing while it goes on with its own.
    package mutating func noteFlushed(
        _ handle: UInt64, of process: Int32, byOpener: Bool, at now: UInt64
    ) {
        if byOpener { left.insert(handle) }
        if left.contains(handle) { flushed[handle] = Flush(process: process, at: now) }
    }

    /// The FLUSH made something last that was written.
    package mutating func noteKept(at now: UInt64) { since = max(now, 1) }

    /// The FLUSH is answered when a picture is drawn, by then at the latest; 0 when it is.
    package mutating func noteDrawing(until: UInt64) { flushingUntil = until }

    /// The handle was written to: another of its descriptors lives on.
    @inline(__always)
    package mutating func noteWritten(_ handle: UInt64) {
        if !flushed.isEmpty { flushed[handle] = nil }
    }

    mutating func noteReleased(_ handle: UInt64) {
        flushed[handle] = nil
        left.remove(handle)
    }

    /// Keeps what is to be run when the session ends, or when the patience does; returns that moment.
    package mutating func park(_ retry: @escaping @Sendable () -> Void, at now: UInt64) -> UInt64 {
        let until = max(now, flushingUntil) + Self.patience
        waiting.append(Waiting(since: now, until: until, retry: retry))
        return until
    }

    /// Keeps what is to be run when the session ends, or when it is taken.
    package mutating func hold(_ retry: @escaping @Sendable () -> Void) {
        waiting.append(Waiting(since: .max, until: .max, retry: retry))
    }

    /// All that waits.
    package mutating func takeParked() -> [@Sendable () -> Void] {
        defer { waiting = [] }
        return waiting.map(\.retry)
    }

    /// What has waited long enough. If it came long after the FLUSH, nobody waits any more before the
    /// next: a dup lives on.
    package mutating func takeImpatient(_ now: UInt64) -> [@Sendable () -> Void] {
        let impatient = waiting.filter { $0.until <= now }
        waiting.removeAll { $0.until <= now }
        if since > 0, impatient.contains(where: { $0.since >= since + Self.certainty }) {
            since = 0
            flushed = [:]
        }
        return impatient.map(\.retry)
    }
}
