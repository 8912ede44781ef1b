package import Model

/// How bytes are written as text.
enum Notation {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Base 64 with padding (RFC 4648, section 4).
    static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word: UInt32 = 0
            for (index, byte) in group.enumerated() { word |= UInt32(byte) << (16 - 8 * index) }
            for index in 0..<4 {
                text.append(
                    index <= group.count ? letters[Int(word >> (18 - 6 * index) & 63)] : 0x3d)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension ContentHash {
    /// Reads a blob's name: exactly 64 lower-case hexadecimal digits.
    package init?(name: some StringProtocol) {
        guard name.utf8.count == 64, !name.utf8.contains(where: { (0x41...0x46).contains($0) }),
            let bytes = Hexadecimal.bytes(name.utf8)
        else { return nil }
        self.init(bytes: bytes)
    }

    /// The first two digits, which name the folder the blob is in.
    var fanOut: String { String(description.prefix(2)) }
}
