/// A key of a part of a document: how its value is read and set as text.
struct Field<Owner>: Sendable {
    /// What the key is called.
    let key: String
    /// What else it may be called.
    let aliases: [String]
    /// The names of the numbers in the value, where those have names of their own.
    let parts: [String]
    /// What those numbers may be called without the key, in the same order.
    let partAliases: [String]
    /// What its values are.
    let form: ValueForm
    /// Whether only the value that is there can be set.
    let isFixed: Bool
    /// The value that is given; nil if none is.
    let get: @Sendable (Owner) -> String?
    /// The value that counts where none is given.
    let standard: @Sendable (Owner) -> String?
    /// Sets the value, or takes it away. Errors have no place.
    let set: @Sendable (inout Owner, String?) throws(EditError) -> Void

    init(
        _ key: String, aliases: [String] = [], parts: [String] = [], partAliases: [String] = [],
        form: ValueForm = .text, isFixed: Bool = false,
        get: @escaping @Sendable (Owner) -> String?,
        standard: @escaping @Sendable (Owner) -> String? = { _ in nil },
        set: @escaping @Sendable (inout Owner, String?) throws(EditError) -> Void
    ) {
        self.key = key
        self.aliases = aliases
        self.parts = parts
        self.partAliases = partAliases
        self.form = parts.isEmpty ? form : .numbers
        self.isFixed = isFixed
        self.get = get
        self.standard = standard
        self.set = set
    }

    /// The value that counts, or one of its numbers; nil if there is none.
    func value(of owner: Owner, _ part: Int?) -> FieldValue? {
        guard let text = get(owner) ?? standard(owner) else { return nil }
        guard let part else { return FieldValue(text: text, form: form) }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        return FieldValue(text: String(parts[part]), form: .number)
    }

    /// Whether a word means this key, or one of its numbers.
    func isCalled(_ word: String) -> Bool {
        let lower = word.lowercased()
        return key.lowercased() == lower || aliases.contains { $0.lowercased() == lower }
            || part(called: word) != nil
    }

    /// Which of the numbers a word means without the key; nil if none.
    func part(called word: String) -> Int? {
        guard !partAliases.isEmpty else { return nil }
        let lower = word.lowercased()
        return partAliases.firstIndex { $0.lowercased() == lower }
    }
}

/// Something whose values are set by keys.
protocol Fielded {
    /// What it is called in messages, with its article.
    var noun: String { get }
    /// Its keys in the order they are shown.
    var fields: [Field<Self>] { get }
}

extension Fielded {
    /// The value of a key such as `position` or `position.x`.
    func value(of key: String) throws(EditError) -> FieldValue {
        let (field, part) = try field(key)
        guard let value = field.value(of: self, part) else {
            throw EditError(.notFound, "not set")
        }
        return value
    }

    /// Sets the value of a key such as `position` or `position.x`; nil takes it away.
    mutating func set(_ key: String, to text: String?) throws(EditError) {
        let (field, part) = try field(key)
        // What `get` prints may be set again.
        if field.isFixed, let text, text.lowercased() == field.get(self)?.lowercased() { return }
        guard let part else { return try field.set(&self, text) }
        guard let text else {
            throw EditError(.usage, "only all of \(field.key) can be taken away")
        }
        guard let old = field.get(self) ?? field.standard(self) else {
            throw EditError(
                .data,
                "\(field.key) is not set; set all of it: "
                    + "\(field.key)=\(field.parts.joined(separator: ","))")
        }
        var words = old.split(separator: ",").map { String($0) }
        words[part] = ValueText.text(try ValueText.number(text))
        try field.set(&self, words.joined(separator: ","))
    }

    /// The field of a key and, for `position.x` and the like, which of its numbers is meant.
    func field(_ key: String) throws(EditError) -> (field: Field<Self>, part: Int?) {
        let words = key.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let name = words.first.map { String($0) } ?? ""
        let fields = fields
        guard let field = fields.first(where: { $0.isCalled(name) }) else {
            guard !name.isEmpty else {
                throw EditError(
                    .notFound, "\(noun) has \(fields.map(\.key).joined(separator: ", "))")
            }
            throw EditError(
                .notFound,
                NearNames.unknown("key", name, among: fields.map(\.key)) + " (\(noun))")
        }
        guard words.count == 2 else { return (field, field.part(called: name)) }
        let part = words[1].lowercased()
        guard let index = field.parts.firstIndex(of: part) else {
            throw EditError(
                .notFound,
                field.parts.isEmpty
                    ? "\(field.key) has no parts"
                    : NearNames.unknown("part", part, among: field.parts) + " (\(field.key))")
        }
        return (field, index)
    }

    /// The keys that have a value, with it.
    var listing: [(key: String, value: FieldValue)] {
        fields.compactMap { field in
            (field.get(self) ?? field.standard(self)).map {
                (field.key, FieldValue(text: $0, form: field.form))
            }
        }
    }

    /// The keys whose values are different in another thing of its kind.
    func changes(to other: Self, at path: (String) -> String) -> [Change] {
        let old = fields
        let new = other.fields
        let keys = old.map(\.key) + new.map(\.key).filter { key in !old.contains { $0.key == key } }
        return keys.compactMap { key in
            let before = old.first { $0.key == key }?.get(self)
            let after = new.first { $0.key == key }?.get(other)
            return before.isExactly(after)
                ? nil : Change(.value, path(key), before: before, after: after)
        }
    }
}
