/// The text of a JSON file, which may be in another encoding than ours: the decoders of the original apps
/// read UTF-16 and UTF-32, with a byte order mark and without.
enum JSONText {
    /// An error if so many bytes are more than are read.
    static func check(_ count: Int) throws(DocumentError) {
        guard count <= Limits.jsonBytes else {
            throw DocumentError(
                .tooLarge, "\(count) bytes, of which at most \(Limits.jsonBytes) are read")
        }
    }

    /// How a file is encoded.
    static func encoding(of file: [UInt8]) -> UnicodeEncoding {
        UnicodeEncoding(mark: file) ?? UnicodeEncoding(ofASCII: file)
    }

    /// The text of a file in UTF-8; the file itself if it is that already, also with a byte order mark.
    static func utf8(_ file: [UInt8]) throws(DocumentError) -> [UInt8] {
        try check(file.count)
        // Both are in memory while it is read.
        return try encoding(of: file).utf8(file, atMost: Limits.jsonMemory - file.count)
    }
}
