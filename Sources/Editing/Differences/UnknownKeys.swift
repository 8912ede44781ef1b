import Documents
import PathText

/// Compares what documents hold besides the keys that have a meaning here.
enum UnknownKeys {
    /// Unknown keys of one object that are told each; of more only how many there are.
    private static let listedRemarks = 1_000

    /// The members that are different in another object, but for those of known keys.
    static func changes(
        _ old: JSONObject, _ new: JSONObject, known: Set<String>, at path: (String) -> String
    ) -> [Change] {
        if old == new { return [] }
        let (oldValues, newValues) = (old.valuesByKey, new.valuesByKey)
        let keys = old.keys + new.keys.filter { oldValues[Exact(wrappedValue: $0)] == nil }
        return keys.compactMap { key in
            let exact = Exact(wrappedValue: key)
            let (before, after) = (oldValues[exact], newValues[exact])
            guard !isKnown(key, known), !JSONText.isSame(before, after) else { return nil }
            return Change(
                .value, path(key), before: before.map { JSONText.text($0, unlike: after) },
                after: after.map { JSONText.text($0, unlike: before) })
        }
    }

    /// Whether a key is one of those that have a meaning, all of which are ASCII: others are not
    /// looked for, as the hash of a text takes its composition.
    private static func isKnown(_ key: String, _ known: Set<String>) -> Bool {
        key.utf8.allSatisfy { $0 < 0x80 } && known.contains(key)
    }

    /// The path of each member that no known key names.
    static func paths(
        of object: JSONObject, known: Set<String>, at path: (String) -> String
    ) -> [String] {
        object.keys.filter { !isKnown($0, known) }.map {
            EscapedText.escaped(path(String($0.prefix(64))))
        }
    }

    /// A sentence for each member that no known key names, with the key that was meant perhaps.
    static func remarks(
        of object: JSONObject, known: Set<String>, at path: (String) -> String
    ) -> [String] {
        let unknown = object.keys.filter { !isKnown($0, known) }
        let names = known.sorted()
        let told = unknown.prefix(listedRemarks).map { key in
            let near = NearNames.nearest(to: key, among: names)
            let meant = near.map { "; did you mean '\($0)'?" } ?? "; it is kept"
            return "\(EscapedText.escaped(path(String(key.prefix(64))))): unknown key\(meant)"
        }
        guard unknown.count > listedRemarks else { return told }
        let rest = unknown.count - listedRemarks
        return told + [
            path("...") + ": \(Count.words(rest, "more unknown key")) "
                + (rest == 1 ? "is kept" : "are kept")
        ]
    }
}

/// JSON on one line.
enum JSONText {
    /// Strings without their quotation marks, all else as in a document; backslashes written out, so
    /// that it is a text as all values are.
    static func text(_ value: JSONValue) -> String {
        EscapedText.escaped(value.string ?? compact(value))
    }

    /// As `text(_:)`, with quotation marks where they tell a string from another value.
    static func text(_ value: JSONValue, unlike other: JSONValue?) -> String {
        let plain = text(value)
        return other.map { text($0) == plain } == true ? compact(value) : plain
    }

    /// Whether both say the same; the order of keys says nothing.
    static func isSame(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
        if left == right { return true }
        switch (left, right) {
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        case (.object(let left), .object(let right)):
            guard left.members.count == right.members.count else { return false }
            let values = right.valuesByKey
            return left.members.allSatisfy { isSame($0.value, values[Exact(wrappedValue: $0.key)]) }
        default: return false
        }
    }

    private static func compact(_ value: JSONValue) -> String {
        // Line ends in strings are escaped, so all that are there belong to the layout.
        let lines = String(decoding: value.text(), as: UTF8.self).split(separator: "\n")
        return lines.map { $0.drop { $0 == " " } }.joined(separator: " ")
    }
}

extension JSONObject {
    /// The values by key: a file may hold very many, and looking one up there takes a pass over all.
    fileprivate var valuesByKey: [Exact<String>: JSONValue] {
        Dictionary(members.map { (Exact(wrappedValue: $0.key), $0.value) }) { first, _ in first }
    }
}

extension [PropertyList.Entry] {
    /// As those of a JSON object.
    fileprivate var valuesByKey: [Exact<String>: PropertyList] {
        Dictionary(map { (Exact(wrappedValue: $0.key), $0.value) }) { first, _ in first }
    }
}

extension UnknownKeys {
    /// The entries that are different in another property list.
    static func changes(
        _ old: [PropertyList.Entry], _ new: [PropertyList.Entry], at path: (String) -> String
    ) -> [Change] {
        if old == new { return [] }
        let (oldValues, newValues) = (old.valuesByKey, new.valuesByKey)
        let keys =
            old.map(\.key) + new.map(\.key).filter { oldValues[Exact(wrappedValue: $0)] == nil }
        return keys.compactMap { key in
            let exact = Exact(wrappedValue: key)
            let (before, after) = (oldValues[exact], newValues[exact])
            guard before != after else { return nil }
            return Change(
                .value, path(key), before: before.map { $0.words(unlike: after) },
                after: after.map { $0.words(unlike: before) })
        }
    }
}
