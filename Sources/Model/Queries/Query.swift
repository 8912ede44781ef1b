internal import PathText

/// What is looked for among the documents of a container, and in which order it is given. Pure.
public struct Query: Hashable, Sendable, LosslessStringConvertible {
    /// Which items are looked at.
    public enum Kind: String, CaseIterable, Sendable {
        /// Regular files.
        case documents
        /// Folders.
        case folders
        /// Both, and what else has a name.
        case all
    }
    /// What results are put in order by; equal ones by their paths.
    public enum Order: String, CaseIterable, Sendable {
        /// Below the folder.
        case path
        /// Behind the last slash.
        case name
        /// Bytes.
        case size
        /// The last change.
        case modified
        /// Behind the last dot of the name.
        case type
        /// What it is called apart from its name; what has no title comes last.
        case title
    }

    /// The name: with `*` or `?` all of it, else a part of it; in any case of letters.
    public var name: String?
    /// Words in the document: the beginnings of some, or "some that stand together". Without any
    /// word all documents are looked for.
    public var text: String?
    /// Words in its title, in the same way.
    public var title: String?
    /// One of the tags in `user.xdg.tags`, in any case of letters.
    public var tag: String?
    /// Ends of names behind the last dot, in lower case; empty: all.
    public var types: [String] = []
    /// Only what is below this folder, as `PathText` makes it; empty: the root.
    public var folder = ""
    /// Which items are looked at.
    public var kind = Kind.documents
    /// Bytes, inclusive.
    public var smallest: Int64?
    /// Bytes, inclusive.
    public var largest: Int64?
    /// The last change at most so late: seconds since 1970, inclusive.
    public var newest: Int64?
    /// The last change at least so late: seconds since 1970, inclusive.
    public var oldest: Int64?
    /// Whether the content is only in the store, or where it was imported from.
    public var isPromise: Bool?
    /// Hidden names and what is in hidden folders count too; names of temporary files never do.
    public var hidden = false
    /// What results are put in order by.
    public var order = Order.path
    /// The last one first.
    public var isReversed = false
    /// At most so many, in that order; at least 1.
    public var limit: Int?
    /// Results tell the titles of documents also where nothing else needs those.
    public var titled = false

    /// Bytes of ``description`` at most: what is looked for takes many times as much, as long as it is
    /// followed.
    package static let longest = 64 << 10

    /// All documents, by their paths.
    public init() {}

    /// Whether what it finds, or in which order, follows from the words or titles of documents.
    package var needsTexts: Bool { text != nil || title != nil || order == .title }
    /// Whether its results tell titles.
    package var tellsTitles: Bool { titled || needsTexts }

    /// Reads what ``description`` wrote; `nil` for anything else.
    public init?(_ text: String) {
        for field in text.split(separator: "&") {
            let parts = field.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = Self.decoded(parts[1]),
                // A folder is one path; what is looked for is text.
                set(String(parts[0]), parts[0] == "folder" ? value : value.repairedPath)
            else { return nil }
        }
    }

    private mutating func set(_ key: String, _ value: String) -> Bool {
        func number(_ path: WritableKeyPath<Query, Int64?>) -> Bool {
            self[keyPath: path] = Int64(value)
            return self[keyPath: path] != nil
        }
        switch key {
        case "name": name = value
        case "text": text = value
        case "title": title = value
        case "tag": tag = value
        case "type": types = value.split(separator: ",").map { $0.lowercased() }
        case "folder": folder = value
        case "kind":
            guard let kind = Kind(rawValue: value) else { return false }
            self.kind = kind
        case "smallest": return number(\.smallest)
        case "largest": return number(\.largest)
        case "newest": return number(\.newest)
        case "oldest": return number(\.oldest)
        case "promise": isPromise = value == "1"
        case "hidden": hidden = value == "1"
        case "sort":
            guard let order = Order(rawValue: value) else { return false }
            self.order = order
        case "reverse": isReversed = value == "1"
        case "limit":
            guard let limit = Int(value), limit > 0 else { return false }
            self.limit = limit
        case "titled": titled = value == "1"
        default: return false
        }
        return true
    }

    /// As `.shapeedit/find` takes it: `key=value` with `&` between; bytes that are neither letters nor
    /// digits nor one of `.-_*?,` as `%` and two digits.
    public var description: String {
        var fields: [(String, String)] = []
        for (key, value) in [("name", name), ("text", text), ("title", title), ("tag", tag)] {
            if let value { fields.append((key, value)) }
        }
        if !types.isEmpty { fields.append(("type", types.joined(separator: ","))) }
        if !folder.isEmpty { fields.append(("folder", folder)) }
        if kind != .documents { fields.append(("kind", kind.rawValue)) }
        for (key, value) in [
            ("smallest", smallest), ("largest", largest), ("newest", newest), ("oldest", oldest),
        ] {
            if let value { fields.append((key, String(value))) }
        }
        if let isPromise { fields.append(("promise", isPromise ? "1" : "0")) }
        if hidden { fields.append(("hidden", "1")) }
        fields.append(("sort", order.rawValue))
        if isReversed { fields.append(("reverse", "1")) }
        if let limit { fields.append(("limit", String(limit))) }
        if titled { fields.append(("titled", "1")) }
        return fields.map { $0.0 + "=" + Self.encoded($0.1) }.joined(separator: "&")
    }

    /// Whether they look for the same, by the bytes of their texts: folders whose names Unicode takes for
    /// the same are two folders.
    public static func == (one: Query, other: Query) -> Bool {
        one.description == other.description
    }

    /// Of the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }

    private static func encoded(_ text: String) -> String {
        text.pathBytes.reduce(into: "") { result, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2e, 0x2d, 0x5f, 0x2a, 0x3f, 0x2c:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = String(text).pathBytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = Hexadecimal.bytes(rest.prefix(2)) else {
                return nil
            }
            bytes += value
            rest = rest.dropFirst(2)
        }
        return String(path: bytes)
    }
}
