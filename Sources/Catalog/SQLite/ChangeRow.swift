package import Model

/// An entry of the change log, as those who react to changes read it.
package struct ChangeRow: Hashable, Sendable {
    /// Without a gap from one change to the next.
    package var sequence: ChangeSequence
    package var time: Timestamp
    package var kind: ChangeKind
    /// The item that changed.
    package var item: ItemNumber
    /// Where it has its (new) name, if the change was about one.
    package var parent: ItemNumber?
    package var name: [UInt8]?
    /// The process that asked, 0 if it was the daemon itself.
    package var process: Int32
    /// Of a rename: where the name was.
    package var former: NamePlace?
    /// Other items that the change made others: what was replaced, the folders of names. Only in rows of
    /// ``ChangeFeed``, the catalog does not keep it.
    package var others: [ItemNumber] = []

    package init(
        sequence: ChangeSequence, time: Timestamp, kind: ChangeKind, item: ItemNumber,
        parent: ItemNumber?, name: [UInt8]?, process: Int32, former: NamePlace? = nil
    ) {
        self.sequence = sequence
        self.time = time
        self.kind = kind
        self.item = item
        self.parent = parent
        self.name = name
        self.process = process
        self.former = former
    }

    /// The entry that the log will have of `mutation`.
    package init(_ mutation: Mutation) {
        self.init(
            sequence: mutation.sequence, time: mutation.time, kind: mutation.kind,
            item: mutation.item, parent: mutation.parent, name: mutation.name,
            process: mutation.process, former: mutation.former)
        for case .putItem(let row) in mutation.effects where row.number != mutation.item {
            others.append(row.number)
        }
    }
}
