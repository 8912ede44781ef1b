internal import Synchronization

/// Makes one system call of this process fail, so that a test can try every place where one can.
///
/// Off (one relaxed atomic load a call) unless a fault test arms it. Counts every call that goes
/// through ``check(_:)``, on every thread.
public enum FaultInjection {
    private static let remaining = Atomic<Int>(0)
    private static let code = Atomic<Int32>(0)

    /// The `count`-th call from now on fails with `error`; 0 disarms.
    public static func arm(after count: Int, error: Int32) {
        code.store(error, ordering: .relaxed)
        remaining.store(count, ordering: .releasing)
    }

    /// Calls left until the armed one; 0 once it has failed or nothing is armed.
    public static var left: Int { remaining.load(ordering: .relaxed) }

    @inline(__always)
    static func next() -> Int32? {
        if remaining.load(ordering: .relaxed) == 0 { return nil }
        return count()
    }

    @inline(never)
    private static func count() -> Int32? {
        let before = remaining.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue
        if before == 1 { return code.load(ordering: .relaxed) }
        if before <= 0 { remaining.store(0, ordering: .relaxed) }
        return nil
    }
}
