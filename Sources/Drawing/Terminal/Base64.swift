/// Bytes as text of 64 characters (RFC 4648, with padding).
enum Base64 {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: encodedBytes(bytes[...]), as: UTF8.self)
    }

    static func encodedBytes(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
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
}
