/// Damages documents in the ways that find mistakes in readers.
public struct Mutator {
    private static let longest = 1 << 16
    private static let tokens: [[UInt8]] = [
        "{", "}", "[", "]", ",", ":", "\"", "\\u", "\\ud800", "/*", "*/", "//", "null", "1e999",
        "-", "0.", "1e-999", "[[[[[[[[", "{\"a\":", "<dict>", "</dict>", "<array>", "<key>",
        "<!--", "-->", "<![CDATA[", "]]>", "&#x0;", "&amp;", "<!DOCTYPE a [", "<integer>", "CF$UID",
        "bplist00", "NSObject", "NSArray", "$class", "\u{feff}", "- [x] ", "x 2026-01-01 ",
    ].map { Array($0.utf8) }
    private static let markers: [UInt8] = [
        0x00, 0x08, 0x0f, 0x10, 0x13, 0x14, 0x22, 0x23, 0x33, 0x4f, 0x5f, 0x6f, 0x80, 0x83, 0x87,
        0xa0, 0xaf, 0xc1, 0xd0, 0xdf, 0xff,
    ]

    private let seeds: [[UInt8]]

    /// A mutator of documents, which are also what it splices in.
    public init(seeds: [[UInt8]]) { self.seeds = seeds }

    /// One of the documents, damaged at a few places or at none.
    public func mutated(using random: inout SeededGenerator) -> [UInt8] {
        damaged(random.one(of: seeds), using: &random)
    }

    /// A document, damaged at a few places or at none.
    public func damaged(_ document: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        var bytes = document
        for _ in 0..<random.one(of: [0, 1, 1, 1, 2, 2, 3, 5, 8, 20]) {
            damage(&bytes, using: &random)
        }
        return Array(bytes.prefix(Mutator.longest))
    }

    private func damage(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        let place = random.below(bytes.count + 1)
        let range = place..<min(bytes.count, place + random.below(1 << random.below(8)))
        switch random.below(10) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1 where place < bytes.count: bytes[place] = UInt8(random.below(256))
        case 2 where place < bytes.count: bytes[place] = random.one(of: Mutator.markers)
        case 3 where place < bytes.count: bytes[place] &+= random.chance(50) ? 1 : 255
        case 4: bytes.insert(contentsOf: random.one(of: Mutator.tokens), at: place)
        case 5: bytes.removeSubrange(range)
        case 6: bytes.insert(contentsOf: bytes[range], at: random.below(bytes.count + 1))
        case 7:
            let other = random.one(of: seeds)
            let start = random.below(other.count + 1)
            let length = random.below(min(256, other.count - start) + 1)
            bytes.insert(contentsOf: other[start..<(start + length)], at: place)
        case 8 where bytes.count > 40:
            // The table of offsets and the trailer of binary property lists.
            let tail = bytes.count - 1 - random.below(min(bytes.count, 32 + 200))
            bytes[tail] = UInt8(random.one(of: [0, 1, 2, 8, 9, 127, 255, random.below(256)]))
        case 9 where random.chance(10):
            // Many of a kind, for depth and length.
            let unit = Array(bytes[range].prefix(8))
            for _ in 0..<random.below(2_000) { bytes.insert(contentsOf: unit, at: place) }
        default: bytes.removeLast(min(bytes.count, random.below(4)))
        }
    }
}
