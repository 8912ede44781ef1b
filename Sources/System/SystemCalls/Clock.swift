internal import Glibc
internal import Synchronization

/// Nanoseconds that only go forward, for waits and ages.
public enum MonotonicClock {
    /// Nanoseconds since some fixed moment of this boot.
    public static var now: UInt64 { nanoseconds(of: CLOCK_MONOTONIC) }

    /// The moment `milliseconds` from now.
    public static func after(milliseconds: UInt64) -> UInt64 { now + milliseconds * 1_000_000 }
}

/// Nanoseconds that go on while the machine sleeps, for the age of what others may change meanwhile.
public enum BootClock {
    /// Nanoseconds since this boot.
    public static var now: UInt64 { nanoseconds(of: CLOCK_BOOTTIME) }
}

private func nanoseconds(of clock: clockid_t) -> UInt64 {
    var moment = timespec()
    clock_gettime(clock, &moment)
    return UInt64(moment.tv_sec) * 1_000_000_000 + UInt64(moment.tv_nsec)
}

/// The time of day, as the kernel stamps files with it.
public enum WallClock {
    /// The latest stamp that was seen, in nanoseconds since 1970.
    private static let latest = Atomic<Int64>(0)
    /// A stamp further ahead than this is of before the clock was set back.
    private static let lead: Int64 = 1_000_000_000

    /// Seconds and nanoseconds since 1970-01-01 UTC. The coarse clock, as ext4 uses it: a time taken
    /// here is never later than the stamp of a file written afterwards. Nor is it earlier than one
    /// that was seen: the kernel stamps a file finer than that clock when somebody has looked at it
    /// since the stamp before.
    public static var now: (seconds: Int64, nanoseconds: Int64) {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &moment)
        let (seconds, nanoseconds) = (Int64(moment.tv_sec), Int64(moment.tv_nsec))
        let seen = latest.load(ordering: .relaxed)
        let ahead = seen - (seconds * 1_000_000_000 + nanoseconds)
        guard ahead > 0, ahead < lead else { return (seconds, nanoseconds) }
        return (seen / 1_000_000_000, seen % 1_000_000_000)
    }

    /// Takes note of when the kernel last changed a file (st_ctim, which nobody can set).
    public static func note(seconds: Int64, nanoseconds: Int64) {
        guard seconds > 0, seconds < 1 << 33 else { return }
        let stamp = seconds * 1_000_000_000 + nanoseconds
        let known = latest.load(ordering: .relaxed)
        if known - stamp >= lead {
            latest.store(stamp, ordering: .relaxed)
        } else if known < stamp {
            latest.max(stamp, ordering: .relaxed)
        }
    }
}

/// This process's id.
public func processIdentifier() -> Int32 { getpid() }
