/// A name in double quotes where a path or target begins: it means the part that is called so, also
/// where the name alone would say something else, such as `"a=b".color` or `"all"`.
///
/// In the quotes `\"` is a quotation mark, and `\\`, `\n`, `\t` and `\r` are what they are in texts.
struct QuotedName {
    /// The name without its quotes.
    let name: String
    /// What follows: nothing, or what begins with `.` or `=`.
    let rest: Substring

    private init(name: String, rest: Substring) {
        self.name = name
        self.rest = rest
    }

    /// The name that a text begins with; nil if it begins with none, or if it goes on otherwise than a
    /// path does, so that the quotes belong to the name.
    static func leading(_ text: Substring) -> QuotedName? {
        var left = text.unicodeScalars
        guard left.popFirst() == "\"" else { return nil }
        var inside = String.UnicodeScalarView()
        while let scalar = left.popFirst() {
            if scalar == "\"" {
                guard left.isEmpty || left.first == "." || left.first == "=" else { return nil }
                return QuotedName(
                    name: EscapedText.unescaped(String(inside)), rest: Substring(left))
            }
            if scalar == "\\", let next = left.popFirst() {
                if next != "\"" { inside.append(scalar) }
                inside.append(next)
            } else {
                inside.append(scalar)
            }
        }
        return nil
    }

    /// The name as it is written in a path.
    static func text(of name: String) -> String {
        "\"" + EscapedText.escaped(name).replacing("\"", with: "\\\"") + "\""
    }
}
