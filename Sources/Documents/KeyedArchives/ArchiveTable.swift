/// The objects of a keyed archive while it is being made.
struct ArchiveTable {
    /// What stands for no object, and is the first of every archive.
    static let null = PropertyList.string("$null")

    var objects = [ArchiveTable.null]
    private var classRecords: [String: Int] = [:]

    /// Appends an object and returns its index.
    mutating func append(_ object: PropertyList) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    /// A place for an object that is made after those it refers to.
    mutating func reserve() -> Int { append(ArchiveTable.null) }

    /// The classes of a record: the class itself and those it inherits from.
    static func classes(_ name: String) -> PropertyList {
        let parents = name == "NSMutableArray" ? ["NSArray", "NSObject"] : ["NSObject"]
        return .array(([name] + parents).map { .string($0) })
    }

    /// The index of the record of a class, made at first use.
    mutating func classRecord(_ name: String) -> Int {
        if let index = classRecords[name] { return index }
        let index = append(
            .dictionary([
                PropertyList.Entry("$classname", .string(name)),
                PropertyList.Entry("$classes", ArchiveTable.classes(name)),
            ]))
        classRecords[name] = index
        return index
    }
}
