/// The identity of a list's item: a UUID.
public struct ItemID: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// An identity of 16 bytes; nil for any other number of them.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new identity (a UUID of version 4).
    public static func random() -> ItemID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// A new identity from a generator.
    public static func random(using generator: inout some RandomNumberGenerator) -> ItemID {
        ItemID(
            high: generator.next() & ~0xf000 | 0x4000,
            low: generator.next() & ~(0b11 << 62) | 0b10 << 62)
    }

    /// The 16 bytes in the order they are written.
    public var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
    }
}

extension ItemID: CustomStringConvertible {
    /// The usual text, such as `DE8EE7F1-01D9-4E1B-A47A-F3CDA15A2FCC`.
    public var description: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
