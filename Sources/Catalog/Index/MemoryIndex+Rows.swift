internal import Glibc
package import Model

/// Rows of the catalog in and out of the index.
extension MemoryIndex {
    /// The item as the catalog keeps it.
    package func row(_ position: Position) -> ItemRow {
        let record = self[item: position].pointee
        return ItemRow(
            number: ItemNumber(rawValue: record.number), mode: record.mode, user: record.user,
            group: record.group, links: record.links,
            device: record.isRegular || record.isDirectory || record.isSymlink ? 0 : record.word0,
            size: record.size, blocks: Int64(record.blocks) * 8,
            modified: Timestamp(rawValue: record.modified),
            changed: Timestamp(rawValue: record.changed),
            accessed: Timestamp(rawValue: record.accessed),
            document: DocumentID(rawValue: record.document), ordinal: record.ordinal,
            nextOrdinal: record.nextOrdinal, place: record.isRegular ? record.place : .none,
            hash: record.isRegular ? record.hash : nil,
            target: record.isSymlink ? Array(target(position)) : nil)
    }

    /// Bytes of the longest target of a symlink, and of the longest name.
    package static let longestTarget = 4_095
    package static let longestName = 255

    /// Whether an item can have the name: what is none ends the listing of its directory.
    package static func canBeName(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, 1...longestName ~= bytes.count,
            memchr(start, Int32(UInt8(ascii: "/")), bytes.count) == nil,
            memchr(start, 0, bytes.count) == nil
        else { return false }
        return bytes.count > 2 || !bytes.allSatisfy { $0 == UInt8(ascii: ".") }
    }

    /// Blocks of 4 KiB that so many of 512 bytes fill.
    package static func pages(of blocks: Int64) -> UInt32 {
        UInt32(clamping: blocks / 8 + (blocks % 8 > 0 ? 1 : 0))
    }

    /// Puts in an item that is not there yet, with its target; names come separately.
    @discardableResult
    package func insert(_ row: ItemRow) -> Position {
        let position = insertItem(row.number)
        let record = self[item: position]
        record.pointee.document = row.document.rawValue
        record.pointee.size = row.size
        record.pointee.modified = row.modified.rawValue
        record.pointee.changed = row.changed.rawValue
        record.pointee.accessed = row.accessed.rawValue
        record.pointee.mode = row.mode
        record.pointee.user = row.user
        record.pointee.group = row.group
        record.pointee.links = row.links
        record.pointee.ordinal = row.ordinal
        record.pointee.nextOrdinal = row.nextOrdinal
        record.pointee.blocks = Self.pages(of: row.blocks)
        if record.pointee.isRegular {
            record.pointee.place = row.place
            record.pointee.hash = row.hash
        } else if let target = row.target {
            // One that is too long is damage.
            if target.count <= Self.longestTarget {
                target.withUnsafeBytes { setTarget(position, $0) }
            }
        } else if !record.pointee.isDirectory {
            record.pointee.word0 = row.device
        }
        return position
    }

    /// What the symlink points to; behind it stands a NUL.
    package func target(_ position: Position) -> UnsafeRawBufferPointer {
        let record = self[item: position]
        return UnsafeRawBufferPointer(
            start: bytes.pointer(UInt32(truncatingIfNeeded: record.pointee.word2)),
            count: Int(record.pointee.word3))
    }

    private func setTarget(_ position: Position, _ target: UnsafeRawBufferPointer) {
        self[item: position].pointee.word2 = UInt64(bytes.store(target))
        self[item: position].pointee.word3 = UInt64(target.count)
    }

    func removeTarget(_ position: Position) {
        let record = self[item: position]
        bytes.remove(
            UInt32(truncatingIfNeeded: record.pointee.word2), length: Int(record.pointee.word3))
    }

    /// The directory that holds the item's first name; 0 for the root and for unlinked items.
    package func parent(of position: Position) -> Position {
        let name = self[item: position].pointee.firstName
        return name == 0 ? 0 : self[name: name].pointee.parent
    }

    /// The item that is the document now; 0 if it is gone.
    package func holder(of document: DocumentID) -> Position {
        let known = knownHolder(of: document)
        if known != 0 { return known }
        let found = self.first { $0.document == document.rawValue && $0.links > 0 }
        if found != 0 { noteHolder(found) }
        return found
    }

    /// The same, as far as it is known without going through all items.
    package func knownHolder(of document: DocumentID) -> Position {
        // A document's first item has its number; save-by-rename makes others.
        let first = find(ItemNumber(rawValue: document.rawValue))
        if first != 0, self[item: first].pointee.document == document.rawValue { return first }
        guard let number = holders[document.rawValue] else { return 0 }
        let noted = find(ItemNumber(rawValue: number))
        guard noted != 0, self[item: noted].pointee.document == document.rawValue,
            self[item: noted].pointee.links > 0
        else { return 0 }
        return noted
    }

    /// Whether another item than its first is known to have become the document.
    package func hasMoved(_ document: DocumentID) -> Bool { holders[document.rawValue] != nil }

    /// Documents that ``holder(of:)`` finds without going through all items.
    private static let mostHolders = 16_384

    /// The item has become the document that it is: it is found at once from here on.
    package func noteHolder(_ position: Position) {
        if holders.count >= Self.mostHolders { holders.removeAll(keepingCapacity: true) }
        holders[self[item: position].pointee.document] = self[item: position].pointee.number
    }

    /// The item that has a name and this version as its current one; 0 if there is none.
    package func holder(of version: NodeNumber) -> Position {
        let position = find(version.item)
        guard position != 0, self[item: position].pointee.links > 0,
            self[item: position].pointee.node == version
        else { return 0 }
        return position
    }

    /// Whether any item is the document, with a name or without.
    ///
    /// - Parameter writers: items that wrote versions of the document, as of the catalog. Mostly it
    ///   is one of these, and not all items need be looked at.
    package func isHeld(_ document: DocumentID, by writers: [ItemNumber]) -> Bool {
        let isOne = writers.contains { item in
            let position = find(item)
            return position != 0 && self[item: position].pointee.document == document.rawValue
        }
        return isOne || first { $0.document == document.rawValue } != 0
    }

    /// The item at a path from the root; 0 if there is none.
    package func item(at path: some Collection<UInt8>) -> Position {
        var position = find(.root)
        for part in path.split(separator: UInt8(ascii: "/")) {
            let name = Array(part).withUnsafeBytes { lookup(position, $0) }
            if name == 0 { return 0 }
            position = self[name: name].pointee.item
        }
        return position
    }

    /// The item's first name from the root, for messages and links; `nil` if it has none.
    package func path(of position: Position) -> [UInt8]? {
        var parts: [[UInt8]] = []
        var current = position
        while self[item: current].pointee.number != ItemNumber.root.rawValue {
            let name = self[item: current].pointee.firstName
            if name == 0 { return nil }
            parts.append(Array(nameBytes(name)))
            current = self[name: name].pointee.parent
        }
        return Array(parts.reversed().joined(separator: [UInt8(ascii: "/")]))
    }
}
