import Glibc

/// Where random tests begin: $SHAPEEDIT_TEST_SEED, else somewhere else each time.
enum TestSeed {
    /// The same for the whole run; tests print it.
    static let value: UInt64 =
        getenv("SHAPEEDIT_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        ?? UInt64.random(in: 0..<1_000_000)
}
