internal import Thumbnailing

/// Which files have words, by the ends of their names.
enum TextType {
    /// What a worker is to read a file as; nil for what has no words. Without making a string: every
    /// publish comes here.
    static func of(_ name: some BidirectionalCollection<UInt8>) -> DrawnType? {
        var packed: UInt64 = 0
        var count = 0
        for byte in name.reversed() {
            if byte == UInt8(ascii: ".") {
                return count > 0 && count < name.count - 1 ? ends[packed] : nil
            }
            count += 1
            guard count <= longest else { return nil }
            packed = packed << 8 | UInt64(lowercased(byte))
        }
        return nil
    }

    /// All ends, as a query names them.
    static var all: [String] { own + texts + markdown }

    private static let own = ["shape", "shapefile", "slide", "list"]
    private static let markdown = ["md", "markdown", "mkd"]
    private static let texts = [
        "txt", "text", "log", "csv", "tsv", "json", "xml", "html", "htm", "yaml", "yml", "toml",
        "ini", "conf", "tex", "rst", "org", "srt", "svg", "c", "h", "cpp", "cc", "hpp", "swift",
        "py", "js", "ts", "css", "sh", "rb", "go", "rs", "java", "sql",
    ]
    /// Letters of the longest.
    private static let longest = 9

    /// By the letters from the last to the first. The ninth falls out at the top, where it is the only
    /// one with so many.
    private static let ends: [UInt64: DrawnType] = {
        var ends: [UInt64: DrawnType] = [:]
        for end in all {
            let packed = end.utf8.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            ends[packed] = DrawnType(fileName: "x." + end) ?? .text
        }
        return ends
    }()

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
