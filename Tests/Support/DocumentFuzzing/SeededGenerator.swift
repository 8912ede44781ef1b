/// A random generator that gives the same numbers for the same seed, so that a failure can be
/// repeated.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// A generator that begins at a seed.
    public init(seed: UInt64) { state = seed }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    /// A number from 0 up to a bound, which is not reached.
    public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Whether something that happens in so many of 100 cases happens.
    public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// One of several values.
    public mutating func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }
}
