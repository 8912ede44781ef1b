extension Arguments {
    /// All words that are left, each as `PATH=VALUE`, at least one.
    mutating func assignments() throws(EditError) -> [(path: String, value: String)] {
        var pairs: [(path: String, value: String)] = []
        repeat {
            let word = try next("PATH=VALUE")
            guard let sign = word.firstIndex(of: "="), sign > word.startIndex else {
                throw misuse("'\(word.prefix(64))' is not of the form PATH=VALUE")
            }
            pairs.append((String(word[..<sign]), String(word[word.index(after: sign)...])))
        } while !isEmpty
        return pairs
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
