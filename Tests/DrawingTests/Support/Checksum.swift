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
