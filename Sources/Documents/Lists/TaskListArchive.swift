extension TaskList {
    private static let listClass = "AAPLList"
    private static let itemClass = "AAPLListItem"
    private static let arrayClasses: Set = [standardArrayClass, "NSMutableArray"]
    private static let identityClass = "NSUUID"

    /// Reads a `.list` document.
    public static func read(_ bytes: [UInt8]) throws(DocumentError) -> TaskList {
        var archive = KeyedUnarchiver(try KeyedArchive(bytes))
        let root = try archive.rootInstance { $0 == listClass }
        var list = TaskList()
        if let color = root["color"] {
            guard case .integer(let number) = color,
                let known = Int(exactly: number).flatMap({ ListColor(rawValue: $0) })
            else { throw root.error(.badValue, "'color' is not a whole number from 0 to 5") }
            list.color = known
        }
        guard let items = root["items"] else { throw root.error(.missing, "'items' is missing") }
        let array = try archive.instance(items, depth: 2) { arrayClasses.contains($0) }
        list.arrayClass = array.className
        archive.lose(array.entries.filter { $0.key != "NS.objects" }, at: "items")
        guard case .array(let references) = array["NS.objects"] else {
            throw array.error(.missing, "'NS.objects' is missing")
        }
        var textBytes = 0
        for reference in references {
            let instance = try archive.instance(reference, depth: 3) { $0 == itemClass }
            let item = try TaskItem(instance, in: &archive, number: list.items.count + 1)
            textBytes += item.text.utf8.count
            guard textBytes <= Limits.listTextBytes else {
                throw instance.error(
                    .tooLarge, "the texts have more than \(Limits.listTextBytes) bytes together")
            }
            list.items.append(item)
        }
        list.otherEntries = try archive.otherEntries(of: root, than: ["items", "color"])
        list.losses = archive.losses
        return list
    }

    /// The bytes of a `.list` document, in the original writer's order of objects.
    public func archived() throws(DocumentError) -> [UInt8] {
        guard items.count <= Limits.listItems else {
            throw DocumentError(
                .tooLarge,
                "\(items.count) items, of which a list holds at most \(Limits.listItems)")
        }
        var table = ArchiveTable()
        let root = table.reserve()
        let array = table.reserve()
        var references: [PropertyList] = []
        for item in items { references.append(.uid(try item.append(to: &table))) }
        table.objects[array] = .dictionary([
            PropertyList.Entry("NS.objects", .array(references)),
            PropertyList.Entry("$class", .uid(table.classRecord(arrayClass))),
        ])
        let others = table.append(otherEntries)
        table.objects[root] = .dictionary(
            [
                PropertyList.Entry("items", .uid(array)),
                PropertyList.Entry("color", .integer(Int64(color.rawValue))),
            ] + others + [
                PropertyList.Entry("$class", .uid(table.classRecord(TaskList.listClass)))
            ])
        return try KeyedArchive.bytes(of: table.objects)
    }

    fileprivate static func isIdentity(_ name: String) -> Bool { name == identityClass }
    fileprivate static func itemRecord(in table: inout ArchiveTable) -> Int {
        table.classRecord(itemClass)
    }
    fileprivate static func identityRecord(in table: inout ArchiveTable) -> Int {
        table.classRecord(identityClass)
    }
}

extension TaskItem {
    fileprivate init(
        _ item: KeyedUnarchiver.Instance, in archive: inout KeyedUnarchiver, number: Int
    ) throws(DocumentError) {
        let text = try archive.text(
            item["text"], atMost: Limits.itemTextBytes, of: item, key: "text")
        guard let reference = item["uuid"] else {
            throw item.error(.missing, "'uuid' is missing")
        }
        let identity = try archive.instance(reference, depth: 4) { TaskList.isIdentity($0) }
        guard case .data(let bytes) = identity["NS.uuidbytes"], let id = ItemID(bytes: bytes) else {
            throw identity.error(.badValue, "a uuid that does not have 16 bytes")
        }
        archive.lose(
            identity.entries.filter { $0.key != "NS.uuidbytes" }, at: "item.\(number).uuid")
        var isComplete = false
        if let completed = item["completed"] {
            guard case .boolean(let flag) = completed else {
                throw item.error(.wrongType, "'completed' is \(completed.typeName)")
            }
            isComplete = flag
        }
        self.init(text, isComplete: isComplete, id: id)
        otherEntries = try archive.otherEntries(of: item, than: ["text", "uuid", "completed"])
    }

    /// Appends the item, its text, its identity and the classes that were not yet there.
    fileprivate func append(to table: inout ArchiveTable) throws(DocumentError) -> Int {
        guard text.utf8.count <= Limits.itemTextBytes else {
            throw DocumentError(
                .tooLarge, "the text of an item has more than \(Limits.itemTextBytes) bytes")
        }
        let index = table.reserve()
        let text = table.append(.string(text))
        let uuid = table.reserve()
        table.objects[uuid] = .dictionary([
            PropertyList.Entry("NS.uuidbytes", .data(id.bytes)),
            PropertyList.Entry("$class", .uid(TaskList.identityRecord(in: &table))),
        ])
        let others = table.append(otherEntries)
        table.objects[index] = .dictionary(
            [
                PropertyList.Entry("uuid", .uid(uuid)),
                PropertyList.Entry("$class", .uid(TaskList.itemRecord(in: &table))),
                PropertyList.Entry("completed", .boolean(isComplete)),
                PropertyList.Entry("text", .uid(text)),
            ] + others)
        return index
    }
}

extension KeyedUnarchiver {
    /// The entries nobody knows. What they hold is kept if it is plain; leaving anything else out
    /// would lose it, so it is an error.
    fileprivate mutating func otherEntries(
        of instance: Instance, than known: Set<String>
    ) throws(DocumentError) -> [ArchivedEntry] {
        let (kept, rest) = try others(of: instance, than: known)
        if let entry = rest.first {
            throw instance.error(
                .unknown, "the key '\(entry.key.prefix(64))' refers to more than plain values")
        }
        return kept
    }
}
