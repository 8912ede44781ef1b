extension Arguments {
    /// All words that are left, each as `PATH=VALUE`, at least one.
    mutating func assignments() throws(EditError) -> [(path: String, value: String)] {
        var pairs: [(path: String, value: String)] = []
        repeat {
            let word = try next("PATH=VALUE")
            guard let sign = Self.sign(in: word), sign > word.startIndex else {
                throw misuse("'\(word.prefix(64))' is not of the form PATH=VALUE")
            }
            let value = word[word.unicodeScalars.index(after: sign)...]
            pairs.append((String(word[..<sign]), String(value)))
        } while !isEmpty
        return pairs
    }

    /// Where the path of `PATH=VALUE` ends: at the first `=` that is not in a quoted name. A mark that
    /// the value begins with would make one character of itself and the `=`, so scalars are looked at.
    private static func sign(in word: String) -> String.Index? {
        var rest = word.unicodeScalars[...]
        while true {
            if let quoted = QuotedName.leading(Substring(rest)) {
                rest = quoted.rest.unicodeScalars
            }
            guard let stop = rest.firstIndex(where: { $0 == "." || $0 == "=" }) else {
                return word.unicodeScalars.firstIndex(of: "=")
            }
            if rest[stop] == "=" { return stop }
            rest = rest[rest.index(after: stop)...]
        }
    }

    /// All words that are left, at least one.
    mutating func paths() throws(EditError) -> [String] {
        var paths = [try next("PATH")]
        while !isEmpty { paths.append(try next("PATH")) }
        return paths
    }

    /// A name, if one is given, and the `KEY=VALUE` after it.
    mutating func nameAndPairs() throws(EditError) -> (name: String?, pairs: [KeyValue]) {
        var name: String?
        if let word = rest.first, KeyValue(word) == nil {
            name = EscapedText.unescaped(try next("NAME"))
        }
        var pairs: [KeyValue] = []
        while !isEmpty {
            let word = try next("KEY=VALUE")
            guard let pair = KeyValue(word) else {
                throw misuse("'\(word.prefix(64))' is not of the form KEY=VALUE")
            }
            pairs.append(pair)
        }
        return (name, pairs)
    }
}
