/// Parts of a document that targets can mean, by their place in some order.
protocol Selectable {
    /// How they are found by words.
    var index: PartIndex { get }
    /// The parts that a word such as `all` means; nil if it is no such word.
    func collection(_ word: String) -> [Int]?
    /// How many there are.
    var count: Int { get }
    /// For each part whether it has a value; nil if its kind has no such key.
    func matches(_ pair: KeyValue) -> [Bool?]
    /// All keys that parts of any kind have.
    var selectorKeys: [String] { get }
    /// For each kind of parts that has the key of a selector, why none can have its value; nil if
    /// some could.
    func refusals(of pair: KeyValue) -> [String?]
}

extension Selectable {
    /// The parts of targets, each once, in the document's order.
    func find(_ targets: [Target]) throws(EditError) -> [Int] {
        var found: Set<Int> = []
        for target in targets { found.formUnion(try find(target)) }
        return found.sorted()
    }

    /// The parts of a target, at least one.
    func find(_ target: Target) throws(EditError) -> [Int] {
        switch target {
        case .word(let word):
            guard let found = collection(word.lowercased()) else { return [try index.find(word)] }
            guard !found.isEmpty else {
                throw EditError(.notFound, at: word, "nothing here is so")
            }
            return found
        case .selector(let pairs):
            var found = Array(0..<count)
            for pair in pairs {
                let matches = matches(pair)
                let isKnown = matches.contains { $0 != nil }
                guard isKnown || selectorKeys.contains(pair.key.lowercased()) else {
                    throw EditError(
                        .notFound, at: target.text,
                        index.hasPart(named: target.text)
                            ? "the part that is called so is \(QuotedName.text(of: target.text)), "
                                + "in double quotes"
                            : NearNames.unknown("key", pair.key, among: selectorKeys))
                }
                found.removeAll { matches[$0] != true }
                if PartIndex.nameKeys.contains(pair.key.lowercased()) {
                    // As names alone are: as it is written, or if nothing is called so, in any case.
                    let exact = found.filter { index.isCalled($0, pair.value) }
                    if !exact.isEmpty { found = exact }
                }
            }
            guard !found.isEmpty else {
                let impossible = pairs.lazy.compactMap { reasonForNone($0) }.first
                throw EditError(.notFound, at: target.text, impossible ?? "nothing here is so")
            }
            return found
        }
    }

    /// Why no part can ever have the value of a selector, which is mistyped then; nil if one could.
    private func reasonForNone(_ pair: KeyValue) -> String? {
        let isAnything = pair.value == "none" || PartIndex.nameKeys.contains(pair.key.lowercased())
        guard !isAnything, !matches(pair).contains(true) else { return nil }
        let refusals = refusals(of: pair)
        return refusals.contains(nil) ? nil : refusals.first ?? nil
    }

    /// The one part of a target.
    func findOne(_ target: Target) throws(EditError) -> Int {
        let found = try find(target)
        guard found.count == 1 else {
            let paths = found.prefix(8).map { index.path(of: $0) }.joined(separator: ", ")
            throw EditError(
                .ambiguous, at: target.text,
                "\(found.count) parts are meant (\(paths)), one is needed")
        }
        return found[0]
    }
}
