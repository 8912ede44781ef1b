/// Text in JSON.
extension PathText {
    /// A JSON string of `text`. What is not UTF-8 in a path is lost: ``members(_:_:_:)`` keeps it.
    public static func quoted(_ text: String) -> String {
        if isPlain(text) { return "\"" + text + "\"" }
        var result = "\""
        for scalar in text.repairedPath.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A JSON object on one line, of names and finished values.
    public static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { quoted($0) + ": " + $1 }.joined(separator: ", ") + "}"
    }

    /// Whether it is visible ASCII without quotation marks and backslashes, as most names are.
    public static func isPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            bytes.allSatisfy {
                $0 &- 0x20 < 0x5f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
        }
    }
}
