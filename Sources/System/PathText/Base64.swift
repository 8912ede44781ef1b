/// Bytes as text of 64 characters (RFC 4648, with padding).
package enum Base64 {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The text of bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: encodedBytes(bytes[...]), as: UTF8.self)
    }

    /// The same, as bytes of ASCII.
    package static func encodedBytes(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let count = min(3, bytes.endIndex - index)
            var word = 0
            for offset in 0..<3 {
                word = word << 8 | (offset < count ? Int(bytes[index + offset]) : 0)
            }
            for digit in 0..<4 {
                let isPadding = digit > count
                output.append(
                    isPadding ? UInt8(ascii: "=") : digits[word >> (18 - 6 * digit) & 63])
            }
            index += 3
        }
        return output
    }

    /// The bytes of a text, whose blanks and line ends do not count; nil if it is none.
    package static func decode(_ text: String.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        var padding = 0
        for byte in text where byte != UInt8(ascii: " ") && !(9...13).contains(byte) {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = sextet(byte) else { return nil }
            bits = bits << 6 | value
            count += 1
            if count % 4 == 0 {
                bytes += [
                    UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255),
                ]
                bits = 0
            }
        }
        guard padding <= 2 else { return nil }
        switch count % 4 {
        case 0: return bytes
        case 2: return bytes + [UInt8(bits >> 4 & 255)]
        case 3: return bytes + [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)]
        default: return nil
        }
    }

    private static func sextet(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
