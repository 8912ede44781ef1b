/// Takes a line of a script apart into words.
struct ScriptLine {
    private var rest: Substring.UnicodeScalarView

    init(_ line: String.UnicodeScalarView.SubSequence) { rest = line }

    /// The words of the line; none if it holds only blanks and a comment. A first `--` without quotes
    /// is none of them: on the command line it says where options end.
    mutating func words() throws(EditError) -> [String] {
        var words: [String] = []
        var isPastOptions = false
        while true {
            rest = rest.drop { ScriptLine.blanks.contains($0) }
            guard let first = rest.first, !(first == "#" && isComment(words)) else { return words }
            if !isPastOptions, takeEndOfOptions() {
                isPastOptions = true
            } else {
                words.append(try word())
            }
        }
    }

    /// Goes over a `--` that comes next and stands alone.
    private mutating func takeEndOfOptions() -> Bool {
        guard rest.prefix(while: { !ScriptLine.blanks.contains($0) }).elementsEqual(["-", "-"])
        else { return false }
        rest.removeFirst(2)
        return true
    }

    private static let blanks: Set<Unicode.Scalar> = [" ", "\t", "\r"]

    /// Whether the `#` that comes next begins a comment: `color Ball #fc0` means a colour.
    private func isComment(_ words: [String]) -> Bool {
        let digits = rest.dropFirst().prefix { !ScriptLine.blanks.contains($0) }
        let isColor =
            [3, 4, 6, 8].contains(digits.count) && digits.allSatisfy(\.properties.isASCIIHexDigit)
        return words.isEmpty || !isColor
    }

    private mutating func word() throws(EditError) -> String {
        var word = String.UnicodeScalarView()
        while let scalar = rest.first, !ScriptLine.blanks.contains(scalar) {
            rest.removeFirst()
            switch scalar {
            case "'", "\"": word.append(contentsOf: try quoted(scalar))
            case "\\":
                guard let next = rest.popFirst() else {
                    throw EditError(.usage, "a backslash at the end of the line")
                }
                word.append(next)
            default: word.append(scalar)
            }
        }
        return String(word)
    }

    /// What a backslash takes its meaning from between double quotes; before others it stands for itself.
    private static let escapable: Set<Unicode.Scalar> = ["\"", "\\", "$", "`"]

    private mutating func quoted(_ mark: Unicode.Scalar) throws(EditError)
        -> String.UnicodeScalarView
    {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == mark { return text }
            if mark == "\"", scalar == "\\", let next = rest.first,
                ScriptLine.escapable.contains(next)
            {
                text.append(next)
                rest.removeFirst()
            } else {
                text.append(scalar)
            }
        }
        throw EditError(.usage, "a quotation mark \(mark) without its end")
    }
}
