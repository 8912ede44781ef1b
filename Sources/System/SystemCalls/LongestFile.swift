internal import Glibc

/// The longest file that this process may make (RLIMIT_FSIZE, `ulimit -f`).
package enum LongestFile {
    /// In bytes; `nil` without a bound.
    package static var bytes: UInt64? {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0, limit.rlim_cur != rlim_t.max else { return nil }
        return UInt64(limit.rlim_cur)
    }

    /// From now on a write beyond it fails, instead of ending the process in the middle of a change.
    package static func failBeyond() { signal(SIGXFSZ, SIG_IGN) }

    /// Takes the bound as far away as the user may.
    package static func raise() { ResourceLimit.raise(kind) }

    private static let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
}
