/// Paths in JSON, whose strings are Unicode.
extension PathText {
    /// The members of an object that tell a path: the path as text, and if that is not all of it, its
    /// bytes in Base64 (RFC 4648, with padding) under the name with `Bytes` behind it.
    ///
    /// - Parameter quoted: makes a JSON string.
    public static func members(
        _ name: String, _ path: String, _ quoted: (String) -> String
    ) -> [(String, String)] {
        guard let base64 = base64(path) else { return [(name, quoted(path))] }
        return [(name, quoted(path.repairedPath)), (name + bytesEnd, quoted(base64))]
    }

    /// What the name of the member with the bytes ends with.
    public static let bytesEnd = "Bytes"

    /// The bytes of a path in Base64; `nil` if its text is all of it.
    public static func base64(_ path: String) -> String? {
        guard path.hasPathMarks else { return nil }
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let bytes = path.pathBytes
        let text = stride(from: 0, to: bytes.count, by: 3).flatMap { start -> [UInt8] in
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word = 0
            for byte in group { word = word << 8 | Int(byte) }
            word <<= 8 * (3 - group.count)
            return (0..<4).map { (place: Int) -> UInt8 in
                place > group.count ? UInt8(ascii: "=") : digits[word >> (18 - 6 * place) & 63]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
