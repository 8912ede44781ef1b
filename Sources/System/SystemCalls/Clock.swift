internal import Glibc

/// Nanoseconds that only go forward, for waits and ages.
public enum MonotonicClock {
    /// Nanoseconds since some fixed moment of this boot.
    public static var now: UInt64 {
        var moment = timespec()
        clock_gettime(CLOCK_MONOTONIC, &moment)
        return UInt64(moment.tv_sec) * 1_000_000_000 + UInt64(moment.tv_nsec)
    }

    /// The moment `milliseconds` from now.
    public static func after(milliseconds: UInt64) -> UInt64 { now + milliseconds * 1_000_000 }
}

/// The time of day, as the kernel stamps files with it.
public enum WallClock {
    /// Seconds and nanoseconds since 1970-01-01 UTC. The coarse clock, as ext4 uses it: a time taken
    /// here is never later than the stamp of a file written afterwards.
    public static var now: (seconds: Int64, nanoseconds: Int64) {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &moment)
        return (Int64(moment.tv_sec), Int64(moment.tv_nsec))
    }
}

/// This process's id.
public func processIdentifier() -> Int32 { getpid() }
