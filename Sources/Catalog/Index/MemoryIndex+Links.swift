/// The names of one item, of which the oldest stands first: it is what the document is called, as
/// long as it exists. Only hard links cost anything here.
extension MemoryIndex {
    /// Whether the name is its item's first one.
    @inline(__always)
    package func isFirst(_ name: Position) -> Bool {
        self[item: self[name: name].pointee.item].pointee.firstName == name
    }

    /// The rank of a name that the item gets now: behind all that it has. Looks at all of them.
    package func nextRank(of item: Position) -> UInt32 {
        var rank: UInt32 = 0
        var name = self[item: item].pointee.firstName
        while name != 0 {
            rank = max(rank, self[name: name].pointee.rank + 1)
            name = self[name: name].pointee.nextOfItem
        }
        return min(rank, NameRecord.lastRank)
    }

    /// Counts the links of all items that have a name anew, as far as the catalog had them wrong: one
    /// that was counted too few times would be gone, or below zero, before its last name is.
    package func countLinks(_ directories: [Position]) {
        var wrong: [(Position, UInt32)] = []
        forEachPosition { position in
            let record = self[item: position]
            if record.pointee.isDirectory || record.pointee.firstName == 0 { return }
            var count: UInt32 = 0
            var name = record.pointee.firstName
            while name != 0 {
                count += 1
                name = self[name: name].pointee.nextOfItem
            }
            if record.pointee.links != count { wrong.append((position, count)) }
        }
        var links: [Position: UInt32] = [:]
        for directory in directories {
            var name = self[item: directory].pointee.firstName
            while name != 0 {
                links[self[name: name].pointee.parent, default: 2] += 1
                name = self[name: name].pointee.nextOfItem
            }
        }
        let root = find(.root)
        for directory in directories where directory == root || parent(of: directory) != 0 {
            let count = links[directory] ?? 2
            if self[item: directory].pointee.links != count { wrong.append((directory, count)) }
        }
        for (position, count) in wrong { self[item: position].pointee.links = count }
    }

    /// Gives the item a name. Of several that are as old, the one that was there stays first.
    @inline(__always)
    func attach(_ name: Position, to item: Position) {
        let first = self[item: item].pointee.firstName
        if first == 0 || self[name: name].pointee.rank < self[name: first].pointee.rank {
            self[name: name].pointee.nextOfItem = first
            self[item: item].pointee.firstName = name
        } else {
            self[name: name].pointee.nextOfItem = self[name: first].pointee.nextOfItem
            self[name: first].pointee.nextOfItem = name
        }
    }

    /// Takes a name from the item; if it was the first one, the next oldest takes its place.
    func detach(_ name: Position, from item: Position) {
        let wasFirst = self[item: item].pointee.firstName == name
        unlink(name, from: item)
        let first = self[item: item].pointee.firstName
        guard wasFirst, first != 0 else { return }
        var oldest = first
        var other = self[name: first].pointee.nextOfItem
        while other != 0 {
            // Behind the first, of those that are as old, the last came first: see `attach`.
            if self[name: other].pointee.rank <= self[name: oldest].pointee.rank { oldest = other }
            other = self[name: other].pointee.nextOfItem
        }
        if oldest == first { return }
        unlink(oldest, from: item)
        self[name: oldest].pointee.nextOfItem = first
        self[item: item].pointee.firstName = oldest
    }

    private func unlink(_ name: Position, from item: Position) {
        let next = self[name: name].pointee.nextOfItem
        var other = self[item: item].pointee.firstName
        if other == name {
            self[item: item].pointee.firstName = next
            return
        }
        while self[name: other].pointee.nextOfItem != name {
            other = self[name: other].pointee.nextOfItem
        }
        self[name: other].pointee.nextOfItem = next
    }
}
