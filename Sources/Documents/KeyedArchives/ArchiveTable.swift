/// The objects of a keyed archive while it is being made.
struct ArchiveTable {
    /// What stands for no object, and is the first of every archive.
    private static let null = PropertyList.string("$null")

    var objects = [ArchiveTable.null]
    private var classRecords: [String: Int] = [:]

    /// Appends an object and returns its index.
    mutating func append(_ object: PropertyList) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    /// A place for an object that is made after those it refers to.
    mutating func reserve() -> Int { append(ArchiveTable.null) }

    /// The index of the record of a class that inherits from NSObject only, made at first use.
    mutating func classRecord(_ name: String) -> Int {
        if let index = classRecords[name] { return index }
        let index = append(
            .dictionary([
                PropertyList.Entry("$classname", .string(name)),
                PropertyList.Entry("$classes", .array([.string(name), .string("NSObject")])),
            ]))
        classRecords[name] = index
        return index
    }
}
