/// A random number generator that gives the same numbers for the same seed everywhere.
package struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Starts a sequence.
    package init(seed: UInt64) {
        state = seed
    }

    /// The next number of the sequence.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }

    /// A number from 0 to `bound` - 1.
    package mutating func below(_ bound: Int) -> Int {
        Int(next() % UInt64(bound))
    }

    /// Whether something that happens in so many of 100 cases happens.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
