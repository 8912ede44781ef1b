internal import Glibc

/// The bounds that whoever started this process has set for it (setrlimit(2), `ulimit`).
package enum ResourceLimit {
    /// From now on this process may take as much time of the processor as the user may have (RLIMIT_CPU,
    /// `ulimit -t`), instead of being ended in the middle of its work.
    package static func raiseProcessorTime() { raise(__rlimit_resource_t(RLIMIT_CPU.rawValue)) }

    /// Takes a bound that is lower up to `most`, if the user may, or as far as the user may.
    static func raise(_ kind: __rlimit_resource_t, to most: rlim_t = .max) {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0, limit.rlim_cur < most else { return }
        limit.rlim_cur = min(limit.rlim_max, most)
        setrlimit(kind, &limit)
    }
}
