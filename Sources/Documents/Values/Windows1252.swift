extension Unicode.Scalar {
    /// The character of a byte in Windows-1252; nil where it has none.
    init?(windows1252 byte: UInt8) {
        guard (0x80..<0xa0).contains(byte) else {
            self.init(byte)
            return
        }
        let scalar = Self.windows[Int(byte) - 0x80]
        guard scalar != 0 else { return nil }
        self.init(scalar)
    }

    /// Where Windows-1252 has other characters than Latin-1: those of the bytes from 0x80 on; 0 for none.
    private static let windows: [UInt16] = [
        0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039,
        0x0152, 0, 0x017d, 0, 0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc,
        0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
    ]
}
