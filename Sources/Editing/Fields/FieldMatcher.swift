import Documents

/// Tells whether things of one kind have the value of a selector such as `color=#fc0`, told apart as
/// values of that key are. The key is looked for once, not in each of many parts.
struct FieldMatcher<Owner: Fielded> {
    private let pair: KeyValue
    private let field: Field<Owner>
    /// Which of the numbers of the value is meant, as for `position.x`.
    private let part: Int?
    private let isColor: Bool
    private let number: Double?
    private let color: Color?

    /// For things that have the same keys as one of them; nil if these have no such key.
    init?(_ pair: KeyValue, as owner: Owner) {
        guard let (field, part) = try? owner.field(pair.key) else { return nil }
        (self.pair, self.field, self.part) = (pair, field, part)
        let key = pair.key.lowercased()
        isColor =
            key.hasSuffix("color") || key == "fill" || key == "stroke" || key == "background"
        number = isColor ? nil : Double(pair.value)
        color = isColor ? Color(pair.value) : nil
    }

    /// Whether the value is that of the selector.
    func matches(_ owner: Owner) -> Bool {
        guard let value = field.value(of: owner, part)?.text else { return pair.value == "none" }
        if value == pair.value { return true }
        if isColor { return color.map { Color(value) == $0 } ?? false }
        if let number, let own = Double(value) { return own == number }
        return value.lowercased() == pair.value.lowercased()
    }
}

/// The matchers of a selector for things of several kinds, each made when it is needed first.
struct FieldMatchers<Owner: Fielded, Kind: Hashable> {
    private let pair: KeyValue
    private var made: [Kind: FieldMatcher<Owner>?] = [:]

    init(_ pair: KeyValue) { self.pair = pair }

    /// Whether something has the value; nil if its kind has no such key.
    mutating func matches(_ owner: Owner, of kind: Kind) -> Bool? {
        if let matcher = made[kind] { return matcher?.matches(owner) }
        let matcher = FieldMatcher(pair, as: owner)
        made[kind] = .some(matcher)
        return matcher?.matches(owner)
    }
}

extension Sequence where Element: Fielded {
    /// For each thing that has the key of a selector, why that key cannot have the value; nil if it
    /// can. A key that takes no other value, or not even the one it has, tells nothing.
    func refusals(of pair: KeyValue) -> [String?] {
        compactMap { owner -> String?? in
            guard let (field, part) = try? owner.field(pair.key), !field.isFixed,
                let own = field.value(of: owner, part)?.text,
                owner.refusal(of: own, for: pair.key) == nil
            else { return nil }
            return owner.refusal(of: pair.value, for: pair.key)
        }
    }
}

extension Fielded {
    fileprivate func refusal(of value: String, for key: String) -> String? {
        var copy = self
        do throws(EditError) {
            try copy.set(key, to: value)
            return nil
        } catch {
            return error.reason
        }
    }
}
