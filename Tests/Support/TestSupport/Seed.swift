internal import Glibc

/// Where a randomised test starts: $SHAPEEDIT_TEST_SEED, or the clock.
package enum Seed {
    /// A seed, printed so that a failure can be repeated.
    package static func next(_ test: String) -> UInt64 {
        let given = getenv("SHAPEEDIT_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        let seed = given ?? UInt64(time(nil)) &* 1_000_003 ^ UInt64(getpid())
        print("\(test): seed \(seed) (repeat with SHAPEEDIT_TEST_SEED=\(seed))")
        return seed
    }
}
