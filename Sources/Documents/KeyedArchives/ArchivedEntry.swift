/// An entry of an archived object that nobody here knows, kept because it holds something plain.
public struct ArchivedEntry: Hashable, Sendable {
    /// What it holds, and where that stands in the archive.
    public enum Value: Hashable, Sendable {
        /// A truth value, number, date, string or data in the object itself.
        case inline(PropertyList)
        /// The same as an object of its own, which the entry refers to.
        case object(PropertyList)
        /// An object of a class of the system whose own entries are all plain.
        case instance(className: String, entries: [PropertyList.Entry])
    }

    /// The key.
    public let key: String
    /// What it holds.
    public let value: Value

    /// An entry of its two parts.
    public init(_ key: String, _ value: Value) {
        self.key = key
        self.value = value
    }

    /// The entry as if all of it stood in the object itself, to be shown and compared.
    public var shown: PropertyList.Entry {
        switch value {
        case .inline(let value), .object(let value): PropertyList.Entry(key, value)
        case .instance(_, let entries): PropertyList.Entry(key, .dictionary(entries))
        }
    }
}

/// Something in a keyed archive that is not there any more once the archive is written anew.
public struct ArchiveLoss: Hashable, Sendable {
    /// Where it is, such as `item.2.uuid.note`; `archive.` begins the paths of the frame.
    public let path: String
    /// What it is: "a string", "an array", ...
    public let typeName: String

    /// An entry of the object at a path; without one, of the document itself.
    init(_ entry: PropertyList.Entry, at path: String? = nil) {
        let key = String(entry.key.prefix(64))
        self.path = path.map { "\($0).\(key)" } ?? key
        typeName = entry.value.typeName
    }
}
