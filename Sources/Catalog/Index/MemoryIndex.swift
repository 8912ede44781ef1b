package import Model

/// All items and names of a container in memory: what lookup, getattr and readdir are answered from.
///
/// Flat records of at most 200 bytes an item, found by two hash tables; no allocation in a lookup.
/// Not for several threads: whoever owns it guards it. Records are named by their position
/// (``Position``), which stays valid until the item or name is removed; 0 means "none".
package final class MemoryIndex {
    package typealias Position = UInt32

    var items: ReservedArray<ItemRecord>
    var names: ReservedArray<NameRecord>
    var bytes: ByteHeap
    var itemTable = ProbeTable()
    var nameTable = ProbeTable()
    private var itemsUsed: Position = 1
    private var namesUsed: Position = 1
    private var freeItem: Position = 0
    private var freeName: Position = 0
    /// Makes the names' places in the table unpredictable to whoever chooses names.
    private let seed = UInt64.random(in: .min ... .max)
    /// The extended attributes of the items that have any.
    package var attributes: [Position: [[UInt8]: [UInt8]]] = [:]
    /// Which items documents are that have got another than their first, as far as was noted: a place to
    /// look at, and not more (``holder(of:)``).
    var holders: [UInt64: UInt64] = [:]

    /// Items and names that there is address space for, where that is not limited.
    package static let usualCapacity = 1 << 27
    /// Names for which room is kept, for what is renamed because others come.
    private static let spareNames = 64

    /// - Parameters:
    ///   - capacity: names that there is to be address space for.
    ///   - items: the same of items, where they are not to be as many.
    package init(capacity: Int = usualCapacity, items: Int? = nil) throws(Failure) {
        self.items = try ReservedArray(capacity: items ?? capacity)
        names = try ReservedArray(capacity: capacity)
        bytes = try ByteHeap(capacity: 32 * capacity)
    }

    /// Whether an item can be added that has a name, and as a symlink a target, of so many bytes. Where the
    /// address space is limited, or the system overcommits no memory, there may be no room for many.
    package func hasRoom(name: Int, target: Int? = nil) -> Bool {
        hasItem && hasRoom(furtherName: name, target: target)
    }

    /// Whether an item that is there can get one more name.
    package func hasRoom(furtherName name: Int) -> Bool {
        hasRoom(furtherName: name, target: nil)
    }

    private func hasRoom(furtherName name: Int, target: Int?) -> Bool {
        hasName(spare: Self.spareNames)
            && bytes.hasRoom(name: name, target: target, spare: Self.spareNames * Self.longestName)
    }

    /// Whether there is room for an item that is in the catalog already.
    package func canHold(target: Int?) -> Bool {
        hasItem && bytes.hasRoom(name: nil, target: target)
    }

    /// Whether there is room for a name that is in the catalog already, or that takes the place of another.
    package func canHold(name: Int) -> Bool {
        hasName(spare: 0) && bytes.hasRoom(name: name, target: nil)
    }

    /// Why a catalog cannot be loaded.
    package static func noRoom(for database: CatalogDatabase) -> Failure {
        Failure(
            .system,
            "\(database.path): there is not enough address space for all that it holds "
                + "(`ulimit -v` limits it, and so does vm.overcommit_memory=2)")
    }

    private var hasItem: Bool { freeItem != 0 || Int(itemsUsed) < items.capacity }

    private func hasName(spare: Int) -> Bool {
        freeName != 0 || Int(namesUsed) + spare < names.capacity
    }

    /// Items in the index.
    package var count: Int { itemTable.count }

    @inline(__always)
    package subscript(item position: Position) -> UnsafeMutablePointer<ItemRecord> {
        items[position]
    }

    @inline(__always)
    package subscript(name position: Position) -> UnsafeMutablePointer<NameRecord> {
        names[position]
    }

    /// Makes room for as many names as there are items, so that loading them does not grow the
    /// table again and again.
    package func reserveNames() { nameTable.reserve(itemTable.count) }

    // MARK: Items

    /// Where the item is; 0 if there is no such item.
    @inline(__always)
    package func find(_ number: ItemNumber) -> Position {
        let key = number.rawValue
        return itemTable.find(hash: Self.hash(key)) { items[$0].pointee.number == key }
    }

    /// Room for a new item with all fields zero but its number.
    package func insertItem(_ number: ItemNumber) -> Position {
        var position = freeItem
        if position != 0 {
            freeItem = items[position].pointee.firstName
        } else {
            precondition(Int(itemsUsed) < items.capacity, "the index is full")
            position = itemsUsed
            itemsUsed += 1
        }
        items[position].pointee = ItemRecord()
        items[position].pointee.number = number.rawValue
        itemTable.insert(position, hash: Self.hash(number.rawValue)) {
            Self.hash(items[$0].pointee.number)
        }
        return position
    }

    /// Forgets an item that has no names.
    package func removeItem(_ position: Position) {
        let record = items[position]
        if record.pointee.isSymlink { removeTarget(position) }
        itemTable.remove(position, hash: Self.hash(record.pointee.number)) {
            Self.hash(items[$0].pointee.number)
        }
        attributes[position] = nil
        record.pointee = ItemRecord()
        record.pointee.firstName = freeItem
        freeItem = position
    }

    /// The first item for which `matches` holds, in no order; 0 if there is none. Looks at all.
    package func first(where matches: (ItemRecord) -> Bool) -> Position {
        for position in 1..<itemsUsed
        where items[position].pointee.number != 0 && matches(items[position].pointee) {
            return position
        }
        return 0
    }

    /// Shows every item once, in no order.
    package func forEach(_ body: (ItemRecord) -> Void) {
        for position in 1..<itemsUsed where items[position].pointee.number != 0 {
            body(items[position].pointee)
        }
    }

    /// Shows where every item is, in no order.
    func forEachPosition(_ body: (Position) -> Void) {
        for position in 1..<itemsUsed where items[position].pointee.number != 0 { body(position) }
    }

    /// Shows the items at up to `count` positions; where to go on, or `nil` after the last. Items that
    /// come and go meanwhile may or may not be shown.
    package func forEach(from start: Position, count: Int, _ body: (ItemRecord) -> Void)
        -> Position?
    {
        let first = max(start, 1)
        let end = min(Int(first) + count, Int(itemsUsed))
        for position in first..<max(first, Position(end))
        where items[position].pointee.number != 0 {
            body(items[position].pointee)
        }
        return end < Int(itemsUsed) ? Position(end) : nil
    }

    // MARK: Names

    /// The name `name` in the directory at `parent`; 0 if there is none.
    @inline(__always)
    package func lookup(_ parent: Position, _ name: UnsafeRawBufferPointer) -> Position {
        let wanted = nameHash(parent, name)
        return nameTable.find(hash: wanted) { position in
            let record = names[position]
            return record.pointee.hash == wanted && record.pointee.parent == parent
                && equal(record, name)
        }
    }

    /// Adds a name at the end of its directory. The caller has seen that it is not there.
    ///
    /// - Parameter rank: the name's age among those of the item, see ``nextRank(of:)``; more than
    ///   ``NameRecord/lastRank`` is taken for that.
    @discardableResult
    package func insertName(
        _ parent: Position, _ name: UnsafeRawBufferPointer, item: Position, rank: UInt32 = 0
    ) -> Position {
        var position = freeName
        if position != 0 {
            freeName = names[position].pointee.next
        } else {
            precondition(Int(namesUsed) < names.capacity, "the index is full")
            position = namesUsed
            namesUsed += 1
        }
        let directory = items[parent]
        if directory.pointee.nextSequence > Self.lastSequence { renumber(parent) }
        let record = names[position]
        record.pointee = NameRecord(
            parent: parent, item: item, place: bytes.store(name), hash: nameHash(parent, name),
            previous: directory.pointee.lastChild, next: 0,
            sequence: directory.pointee.nextSequence,
            lengthAndRank: UInt32(name.count) | min(rank, NameRecord.lastRank) << 12)
        directory.pointee.nextSequence += 1
        directory.pointee.childCount += 1
        if record.pointee.previous == 0 {
            directory.pointee.firstChild = position
        } else {
            names[record.pointee.previous].pointee.next = position
        }
        directory.pointee.lastChild = position
        attach(position, to: item)
        nameTable.insert(position, hash: record.pointee.hash) { names[$0].pointee.hash }
        return position
    }

    /// Takes a name out of its directory and from its item.
    package func removeName(_ position: Position) {
        let record = names[position].pointee
        nameTable.remove(position, hash: record.hash) { names[$0].pointee.hash }
        let directory = items[record.parent]
        if record.previous == 0 {
            directory.pointee.firstChild = record.next
        } else {
            names[record.previous].pointee.next = record.next
        }
        if record.next == 0 {
            directory.pointee.lastChild = record.previous
        } else {
            names[record.next].pointee.previous = record.previous
        }
        directory.pointee.childCount -= 1
        detach(position, from: record.item)
        bytes.remove(record.place, length: Int(record.length))
        names[position].pointee = NameRecord()
        names[position].pointee.next = freeName
        freeName = position
    }

    /// The name's bytes; behind them stands a NUL. Valid until the name is removed.
    @inline(__always)
    package func nameBytes(_ position: Position) -> UnsafeRawBufferPointer {
        let record = names[position]
        return UnsafeRawBufferPointer(
            start: bytes.pointer(record.pointee.place), count: Int(record.pointee.length))
    }

    /// The first name of the directory behind `cursor`; 0 at the end. A cursor comes from
    /// ``cursor(_:)``, or is 0 for the start; it stays good while names come and go.
    package func child(of directory: Position, after cursor: UInt64) -> Position {
        if cursor == 0 { return items[directory].pointee.firstChild }
        let hint = Position(truncatingIfNeeded: cursor)
        let sequence = UInt32(truncatingIfNeeded: cursor >> 32)
        if hint < namesUsed, names[hint].pointee.parent == directory,
            names[hint].pointee.sequence == sequence
        {
            return names[hint].pointee.next
        }
        // That name is gone: go on with the first one that came after it.
        var position = items[directory].pointee.firstChild
        while position != 0, names[position].pointee.sequence <= sequence {
            position = names[position].pointee.next
        }
        return position
    }

    /// Up to `count` names of the directory behind `cursor`, see ``child(of:after:)``.
    package func children(of directory: Position, after cursor: UInt64, atMost count: Int)
        -> [Position]
    {
        var children: [Position] = []
        var name = child(of: directory, after: cursor)
        while name != 0, children.count < count {
            children.append(name)
            name = names[name].pointee.next
        }
        return children
    }

    /// A cursor that stands on the name.
    @inline(__always)
    package func cursor(_ position: Position) -> UInt64 {
        UInt64(names[position].pointee.sequence) << 32 | UInt64(position)
    }

    /// The last one that a name gets in its directory: cursors have to be positive for the kernel.
    static let lastSequence: UInt32 = 0x7fff_ffff

    /// Counts the names of a directory anew, after two thousand million have come. A listing that is under
    /// way then ends early.
    private func renumber(_ directory: Position) {
        var (sequence, name) = (UInt32(0), items[directory].pointee.firstChild)
        while name != 0 {
            names[name].pointee.sequence = sequence
            sequence += 1
            name = names[name].pointee.next
        }
        items[directory].pointee.nextSequence = sequence
    }

    // MARK: Hashing

    @inline(__always)
    private static func hash(_ number: UInt64) -> UInt32 {
        // Numbers are given out one after the other: as they are they fill the table evenly, and
        // neighbours stay neighbours in the processor's cache.
        UInt32(truncatingIfNeeded: number)
    }

    @inline(__always)
    private func nameHash(_ parent: Position, _ name: UnsafeRawBufferPointer) -> UInt32 {
        var value = seed ^ (UInt64(parent) &* 0xff51_afd7_ed55_8ccd)
        var offset = 0
        while offset + 8 <= name.count {
            value = Self.mix(value ^ name.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var tail = UInt64(name.count)
        while offset < name.count {
            tail = tail << 8 | UInt64(name[offset])
            offset += 1
        }
        value = Self.mix(value ^ tail)
        return UInt32(truncatingIfNeeded: value ^ value >> 32)
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
        return product.high ^ product.low
    }

    @inline(__always)
    private func equal(
        _ record: UnsafeMutablePointer<NameRecord>, _ name: UnsafeRawBufferPointer
    ) -> Bool {
        guard Int(record.pointee.length) == name.count else { return false }
        let stored = bytes.pointer(record.pointee.place)
        for offset in 0..<name.count
        where stored.load(fromByteOffset: offset, as: UInt8.self) != name[offset] {
            return false
        }
        return true
    }
}
