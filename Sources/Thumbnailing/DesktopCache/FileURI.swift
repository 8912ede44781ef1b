internal import SystemCalls

/// The address of a file as GLib writes it, byte for byte: entries of the thumbnail cache are named
/// after it.
public enum FileURI {
    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,/:=@".utf8)
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The address of an absolute path, whose bytes need not be valid UTF-8.
    public static func address(ofPath path: some Collection<UInt8>) -> String {
        var result = Array("file://".utf8)
        for byte in path {
            if plain.contains(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The absolute path that an address of a file on this machine leads to; nil for all others.
    package static func path(ofAddress address: String) -> [UInt8]? {
        var rest = Array(address.utf8)[...]
        guard rest.starts(with: "file://".utf8) else { return nil }
        rest = rest.dropFirst(7)
        if rest.starts(with: "localhost/".utf8) { rest = rest.dropFirst(9) }
        guard rest.first == UInt8(ascii: "/") else { return nil }
        var path: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                path.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            // Not a sign and one digit, which is a number as well.
            guard digits.count == 2, digits.first != UInt8(ascii: "+"),
                let escaped = UInt8(String(decoding: digits, as: UTF8.self), radix: 16),
                escaped != 0
            else { return nil }
            path.append(escaped)
            rest = rest.dropFirst(2)
        }
        return path
    }

    /// The name of the cache's entry for an address.
    static func entryName(_ address: String) throws(Errno) -> String {
        let digest = try Hashing.md5(Array(address.utf8))
        let name = digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: name, as: UTF8.self).lowercased() + ".png"
    }
}
