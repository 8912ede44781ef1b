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

    /// The name of the cache's entry for an address.
    static func entryName(_ address: String) throws(Errno) -> String {
        let digest = try Hashing.md5(Array(address.utf8))
        let name = digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: name, as: UTF8.self).lowercased() + ".png"
    }
}
