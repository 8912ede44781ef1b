import Drawing

extension Bitmap {
    /// FNV-1a over the size and the red, green and blue of all pixels, in 64 bits.
    var checksum: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt32) { hash = (hash ^ UInt64(byte & 0xFF)) &* 0x100_0000_01b3 }
        for side in [size.width, size.height] {
            for shift in [0, 8, 16, 24] { add(UInt32(side) >> UInt32(shift)) }
        }
        for pixel in pixels { for shift in [16, 8, 0] { add(pixel >> UInt32(shift)) } }
        return hash
    }
}

/// A small generator of numbers that repeat (SplitMix64).
struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
