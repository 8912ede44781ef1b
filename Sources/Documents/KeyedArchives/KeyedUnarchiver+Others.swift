// What stands in an archive besides what its readers ask for.
extension KeyedUnarchiver {
    /// Classes of the system whose objects are kept as they are if they hold only plain values.
    private static let plainClasses: Set = ["NSDate"]

    /// The entries of an object besides the known ones that can be written again, in order, and
    /// the others: those that hold or refer to containers or to objects of classes nobody knows,
    /// and what goes beyond `Limits.archiveOtherBytes` in all.
    mutating func others(
        of instance: Instance, than known: Set<String>
    ) throws(DocumentError) -> (kept: [ArchivedEntry], rest: [PropertyList.Entry]) {
        var kept: [ArchivedEntry] = []
        var rest: [PropertyList.Entry] = []
        for entry in instance.entries where !known.contains(entry.key) {
            let plain = try plain(entry.value)
            otherBytes += plain?.byteCount ?? 0
            if let plain, otherBytes <= Limits.archiveOtherBytes {
                kept.append(ArchivedEntry(entry.key, plain.value))
            } else {
                rest.append(entry)
            }
        }
        return (kept, rest)
    }

    private mutating func plain(_ value: PropertyList) throws(DocumentError) -> PlainValue? {
        guard case .uid(let index) = value else {
            return value.isPlain ? PlainValue(.inline(value)) : nil
        }
        // Looked at once: thousands of entries may refer to one of thousands of entries.
        if let known = plainObjects[index] { return known }
        let found = try plain(try object(index), at: index)
        plainObjects[index] = .some(found)
        return found
    }

    private mutating func plain(
        _ object: PropertyList, at index: Int
    ) throws(DocumentError) -> PlainValue? {
        guard case .dictionary(let entries) = object else {
            return object.isPlain ? PlainValue(.object(object)) : nil
        }
        let values = entries.filter { $0.key != "$class" }
        guard object["$class"] != nil, values.allSatisfy(\.value.isPlain) else { return nil }
        let name = try className(of: index)
        return Self.plainClasses.contains(name)
            ? PlainValue(.instance(className: name, entries: values)) : nil
    }

    /// What an entry holds that can be written again.
    struct PlainValue {
        let value: ArchivedEntry.Value
        /// How many bytes it takes in an archive, about.
        let byteCount: Int

        fileprivate init(_ value: ArchivedEntry.Value) {
            self.value = value
            byteCount = value.byteCount
        }
    }
}

extension ArchiveTable {
    /// The entries as they are written into an object; what they refer to is appended.
    mutating func append(_ entries: [ArchivedEntry]) -> [PropertyList.Entry] {
        entries.map { entry in
            switch entry.value {
            case .inline(let value): return PropertyList.Entry(entry.key, value)
            case .object(ArchiveTable.null): return PropertyList.Entry(entry.key, .uid(0))
            case .object(let value): return PropertyList.Entry(entry.key, .uid(append(value)))
            case .instance(let className, let values):
                let index = reserve()
                let record = PropertyList.Entry("$class", .uid(classRecord(className)))
                objects[index] = .dictionary(values + [record])
                return PropertyList.Entry(entry.key, .uid(index))
            }
        }
    }
}

extension PropertyList {
    /// Whether it neither holds nor refers to anything else.
    fileprivate var isPlain: Bool {
        switch self {
        case .uid, .array, .dictionary: false
        case .boolean, .integer, .unsigned, .real, .real32, .date, .data, .string: true
        }
    }

    /// How many bytes it takes in an archive, about.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count + 8
        case .data(let bytes): bytes.count + 8
        default: 16
        }
    }
}

extension ArchivedEntry.Value {
    fileprivate var byteCount: Int {
        switch self {
        case .inline(let value), .object(let value): value.byteCount
        case .instance(_, let entries):
            entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount }
        }
    }
}
