/// An archive as NSKeyedArchiver writes it: a table of objects that refer to each other by index.
struct KeyedArchive {
    private static let archiver = "NSKeyedArchiver"
    private static let version: Int64 = 100_000

    /// The objects; the first is the null object.
    let objects: [PropertyList]
    /// The index of the object everything hangs on.
    let root: Int
    /// What the frame holds besides the objects and the root.
    let losses: [ArchiveLoss]

    /// Reads an archive. Only its frame is checked: `KeyedUnarchiver` checks objects as they are
    /// asked for.
    init(_ bytes: [UInt8]) throws(DocumentError) {
        let list = try PropertyList.read(bytes)
        guard case .dictionary = list else {
            throw DocumentError(.otherFormat, "not a keyed archive: it is \(list.typeName)")
        }
        guard list["$archiver"] == .string(Self.archiver) else {
            throw DocumentError(
                .otherFormat, at: .path("$archiver"), "not a keyed archive of \(Self.archiver)")
        }
        guard list["$version"] == .integer(Self.version) else {
            throw DocumentError(
                .unknown, at: .path("$version"),
                "an archive of another version than \(Self.version)")
        }
        guard case .array(let objects) = list["$objects"] else {
            throw DocumentError(.missing, at: .path("$objects"), "the table of objects is missing")
        }
        guard objects.count <= Limits.archiveObjects else {
            throw DocumentError(
                .tooLarge, at: .path("$objects"),
                "\(objects.count) objects, of which at most \(Limits.archiveObjects) are read")
        }
        guard case .uid(let root) = list["$top"]?["root"] else {
            throw DocumentError(.missing, at: .path("$top.root"), "the root object is missing")
        }
        self.objects = objects
        self.root = root
        func others(_ list: PropertyList?, than known: Set<String>, at path: String)
            -> [ArchiveLoss]
        {
            guard case .dictionary(let entries) = list else { return [] }
            return entries.filter { !known.contains($0.key) }.map {
                ArchiveLoss($0, at: path)
            }
        }
        let all =
            others(list, than: ["$version", "$objects", "$archiver", "$top"], at: "archive")
            + others(list["$top"], than: ["root"], at: "archive.$top")
        losses = Array(all.prefix(Limits.listedRepairs))
    }

    /// The bytes of an archive of such a table, whose root is the object after the null object.
    static func bytes(of objects: [PropertyList]) throws(DocumentError) -> [UInt8] {
        guard objects.count <= Limits.archiveObjects else {
            throw DocumentError(
                .tooLarge, "more than \(Limits.archiveObjects) objects to archive")
        }
        let list = PropertyList.dictionary([
            PropertyList.Entry("$version", .integer(version)),
            PropertyList.Entry("$objects", .array(objects)),
            PropertyList.Entry("$archiver", .string(archiver)),
            PropertyList.Entry("$top", .dictionary([PropertyList.Entry("root", .uid(1))])),
        ])
        // The original writer finds what it has written by address. Strings of the archiver and of
        // Apple's classes are constants, and the name of a class is one object in both places of
        // its record while it is short enough to live in a pointer, as that of a list is. Booleans
        // and references it writes each time, and then refers to the first of the same address.
        return try BinaryPropertyListWriter.bytes(
            of: list,
            sharesString: { $0.hasPrefix("$") || $0.hasPrefix("NS") || $0 == "AAPLList" },
            repeatsConstants: true)
    }
}

/// Takes objects out of a keyed archive. Each container can be taken once, so neither a cycle nor
/// a container that many others share makes the work more than the table is long.
struct KeyedUnarchiver {
    /// An object of a class with its values.
    struct Instance {
        let index: Int
        let className: String
        /// The values by key, the class not among them.
        let entries: [PropertyList.Entry]

        subscript(key: String) -> PropertyList? { entries.first { $0.key == key }?.value }

        func error(_ kind: DocumentError.Kind, _ reason: String) -> DocumentError {
            DocumentError(kind, at: .archived(index), reason)
        }
    }

    private let objects: [PropertyList]
    private let root: Int
    private var taken: [Bool]
    private var seenRecords: Set<Int> = []
    /// The names that records of classes hold: thousands of objects may share one of many entries.
    private var classNames: [Int: String] = [:]
    /// Bytes of the entries that `others(of:than:)` kept so far.
    var otherBytes = 0
    /// What it found in objects that entries refer to.
    var plainObjects: [Int: PlainValue?] = [:]
    /// What a new archive of the objects taken so far would not hold, unless they are told by
    /// `others(of:than:)`.
    private(set) var losses: [ArchiveLoss]

    init(_ archive: KeyedArchive) {
        losses = archive.losses
        objects = archive.objects
        root = archive.root
        taken = Array(repeating: false, count: archive.objects.count)
    }

    mutating func rootInstance(
        isKnown: (String) -> Bool
    ) throws(DocumentError) -> Instance {
        try instance(.uid(root), depth: 1, isKnown: isKnown)
    }

    /// The object that a value refers to. `depth` counts containers from the root, which has 1.
    mutating func instance(
        _ reference: PropertyList, depth: Int, isKnown: (String) -> Bool
    ) throws(DocumentError) -> Instance {
        guard case .uid(let index) = reference else {
            throw DocumentError(.wrongType, "\(reference.typeName) where a reference is expected")
        }
        guard case .dictionary(let entries) = try object(index) else {
            throw DocumentError(.wrongType, at: .archived(index), "not an object of a class")
        }
        guard depth <= Limits.archiveDepth else {
            throw DocumentError(
                .tooLarge, at: .archived(index), "more than \(Limits.archiveDepth) levels")
        }
        guard !taken[index] else {
            throw DocumentError(
                .malformed, at: .archived(index), "an object that is held twice or holds itself")
        }
        taken[index] = true
        let name = try className(of: index)
        guard isKnown(name) else {
            throw DocumentError(
                .unknown, at: .archived(index), "an object of the class '\(name.prefix(64))'")
        }
        noteRecord(of: index, name)
        return Instance(
            index: index, className: name, entries: entries.filter { $0.key != "$class" })
    }

    /// Notes values that are not written again.
    mutating func lose(_ entries: [PropertyList.Entry], at path: String) {
        losses += entries.prefix(max(0, Limits.listedRepairs - losses.count)).map {
            ArchiveLoss($0, at: path)
        }
    }

    /// Notes what the record of an object's class says besides what one written here would.
    private mutating func noteRecord(of index: Int, _ name: String) {
        guard case .uid(let record) = objects[index]["$class"],
            seenRecords.insert(record).inserted, case .dictionary(let entries) = objects[record]
        else { return }
        let others = entries.filter {
            $0.key != "$classname"
                && !($0.key == "$classes" && $0.value == ArchiveTable.classes(name))
        }
        lose(others, at: "archive.\(name)")
    }

    /// The text that a value refers to.
    func text(
        _ reference: PropertyList?, atMost limit: Int, of owner: Instance, key: String
    ) throws(DocumentError) -> String {
        guard case .uid(let index) = reference else {
            throw owner.error(.missing, "'\(key)' is missing")
        }
        guard case .string(let text) = try object(index), index != 0 else {
            throw DocumentError(.wrongType, at: .archived(index), "'\(key)' is not text")
        }
        guard text.utf8.count <= limit else {
            throw DocumentError(
                .tooLarge, at: .archived(index), "'\(key)' has more than \(limit) bytes")
        }
        return text
    }

    func object(_ index: Int) throws(DocumentError) -> PropertyList {
        guard objects.indices.contains(index) else {
            throw DocumentError(.malformed, at: .archived(index), "there is no such object")
        }
        return objects[index]
    }

    mutating func className(of index: Int) throws(DocumentError) -> String {
        let record = objects[index]["$class"]
        if case .uid(let record) = record, let known = classNames[record] { return known }
        guard case .uid(let record) = record,
            case .string(let name) = try object(record)["$classname"]
        else {
            throw DocumentError(.malformed, at: .archived(index), "an object without a class")
        }
        classNames[record] = name
        return name
    }
}
