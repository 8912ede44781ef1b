package import Model

/// Whole tables, for the memory index at mount and for the check. Half a second a million rows.
extension CatalogDatabase {
    /// Shows every item once, by number.
    package func loadItems(_ body: (ItemRow) -> Void) throws(Failure) {
        let select = try connection.statement("SELECT * FROM item ORDER BY id")
        defer { select.reset() }
        while try select.step() {
            body(
                ItemRow(
                    number: ItemNumber(rawValue: select.unsigned(0)), mode: select.unsigned32(1),
                    user: select.unsigned32(2), group: select.unsigned32(3),
                    links: select.unsigned32(4), device: select.unsigned(5),
                    size: select.integer(6), blocks: select.integer(7),
                    modified: Timestamp(rawValue: select.unsigned(8)),
                    changed: Timestamp(rawValue: select.unsigned(9)),
                    accessed: Timestamp(rawValue: select.unsigned(10)),
                    document: DocumentID(rawValue: select.unsigned(11)),
                    ordinal: select.unsigned32(12), nextOrdinal: select.unsigned32(13),
                    place: try select.place(14), hash: try select.hash(15),
                    target: select.bytes(16)))
        }
    }

    /// Shows every name once, by parent and then by the name's bytes. The bytes are valid only
    /// during the call. `body` takes the directory, the name, the item and the name's rank.
    package func loadNames(
        _ body: (ItemNumber, UnsafeRawBufferPointer, ItemNumber, UInt32) -> Void
    ) throws(Failure) {
        let select = try connection.statement("SELECT * FROM name ORDER BY parent, name")
        defer { select.reset() }
        while try select.step() {
            body(
                ItemNumber(rawValue: select.unsigned(0)), select.blob(1),
                ItemNumber(rawValue: select.unsigned(2)), select.unsigned32(3))
        }
    }

    /// Shows every extended attribute once, by item. The bytes are valid only during the call.
    /// `body` takes the item, the attribute's name and its value.
    package func loadAttributes(
        _ body: (ItemNumber, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) throws(Failure) {
        let select = try connection.statement("SELECT * FROM xattr ORDER BY item, name")
        defer { select.reset() }
        while try select.step() {
            body(ItemNumber(rawValue: select.unsigned(0)), select.blob(1), select.blob(2))
        }
    }
}
