/// Paths in JSON, whose strings are Unicode.
extension PathText {
    /// The members of an object that tell a path: the path as text, and if that is not all of it, its
    /// bytes in Base64 (RFC 4648, with padding) under the name with `Bytes` behind it.
    ///
    /// - Parameter quoted: makes a JSON string.
    public static func members(
        _ name: String, _ path: String, _ quoted: (String) -> String = PathText.quoted
    ) -> [(String, String)] {
        guard let base64 = base64(path) else { return [(name, quoted(path))] }
        return [(name, quoted(path.repairedPath)), (name + bytesEnd, quoted(base64))]
    }

    /// What the name of the member with the bytes ends with.
    public static let bytesEnd = "Bytes"

    /// The bytes of a path in Base64; `nil` if its text is all of it.
    public static func base64(_ path: String) -> String? {
        guard path.hasPathMarks else { return nil }
        return Base64.encode(path.pathBytes)
    }
}
