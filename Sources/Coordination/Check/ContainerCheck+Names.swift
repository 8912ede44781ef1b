internal import Catalog
internal import Glibc
internal import Model
internal import PathText

/// Names, directories and link counts: every item can be reached from the root, once counted right.
extension ContainerCheck {
    mutating func checkNames() throws(Failure) {
        guard let root = rows[.root], isDirectory(root.number) else {
            throw Failure(
                .badData, "\(database.path) has no root directory: put a backup of it back")
        }
        var repair = NameRepair(taken: Set(namesIn(.root)))
        for (item, list) in names.sorted(by: { $0.key < $1.key }) {
            for name in list { check(name, of: item, &repair) }
        }
        for item in rows.keys.sorted() where isDirectory(item) && item != .root {
            checkSingleName(item, &repair)
        }
        for item in rows.keys.sorted() where isDirectory(item) { checkLoop(from: item, &repair) }
        for (item, row) in rows.sorted(by: { $0.key < $1.key })
        where item != .root && names[item, default: []].isEmpty {
            let name = repair.freeName(like: [], item)
            names[item] = [Name(parent: .root, bytes: name)]
            repair.adjusted.formUnion([.root, item])
            fix(
                "item \(item.rawValue) had no name; it is \(Self.text(name)) at the root now",
                row.number, [.putName(parent: .root, name: name, item: item)])
        }
        checkLinks(repair.adjusted)
    }

    /// What the repair of names has to know of.
    struct NameRepair {
        /// Names at the root.
        var taken: Set<[UInt8]>
        /// Items whose link count has to change because of a repair.
        var adjusted: Set<ItemNumber> = []
        /// Directories that lead to the root.
        var reached: Set<ItemNumber> = [.root]

        init(taken: Set<[UInt8]>) {
            self.taken = taken
            self.taken.insert(Array(".shapeedit".utf8))
        }

        /// A name at the root that nobody has, and takes it. Never one that is there: a name that is
        /// put replaces another.
        mutating func freeName(like wanted: [UInt8], _ item: ItemNumber) -> [UInt8] {
            let base = isPossible(wanted) ? wanted : Array("lost+\(item.rawValue)".utf8)
            var name = base
            var number = 0
            while !taken.insert(name).inserted {
                number += 1
                let suffix = Array("~\(number)".utf8)
                name = base.prefix(255 - suffix.count) + suffix
            }
            return name
        }
    }

    private static func isPossible(_ name: [UInt8]) -> Bool {
        name.withUnsafeBytes(MemoryIndex.canBeName)
    }

    private static func text(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self) }

    private func isDirectory(_ item: ItemNumber) -> Bool {
        rows[item].map { $0.mode & S_IFMT == S_IFDIR } ?? false
    }

    private func namesIn(_ directory: ItemNumber) -> [[UInt8]] {
        names.values.flatMap { $0.filter { $0.parent == directory }.map(\.bytes) }
    }

    /// One name by itself: does it lead from a directory to something, and can it be a name?
    private mutating func check(_ name: Name, of item: ItemNumber, _ repair: inout NameRepair) {
        let text = Self.text(name.bytes)
        if rows[item] == nil {
            remove(name, of: item)
            fix(
                "the name \(text) led to a missing item \(item.rawValue)", item,
                [.removeName(parent: name.parent, name: name.bytes)])
        } else if item == .root {
            remove(name, of: item)
            repair.adjusted.insert(name.parent)
            fix(
                "the root had the name \(text)", item,
                [.removeName(parent: name.parent, name: name.bytes)])
        } else if !isDirectory(name.parent) {
            moveToRoot(name, of: item, "\(text) was in a missing directory", &repair)
        } else if !Self.isPossible(name.bytes) {
            moveToRoot(name, of: item, "\"\(text)\" cannot be a name", &repair)
        } else if name.parent == .root, name.bytes == Array(".shapeedit".utf8) {
            moveToRoot(name, of: item, "\(text) is taken", &repair)
        }
    }

    private mutating func checkSingleName(_ item: ItemNumber, _ repair: inout NameRepair) {
        for surplus in names[item, default: []].dropFirst() {
            repair.adjusted.insert(surplus.parent)
            fix(
                "the directory \(path(item)) had a second name, \(Self.text(surplus.bytes))", item,
                [.removeName(parent: surplus.parent, name: surplus.bytes)])
        }
        names[item] = names[item].map { Array($0.prefix(1)) }
    }

    /// Directories that are in each other lead nowhere: one of them comes to the root.
    private mutating func checkLoop(from item: ItemNumber, _ repair: inout NameRepair) {
        var way: Set<ItemNumber> = []
        var current = item
        while !repair.reached.contains(current) {
            guard let name = names[current]?.first else { break }
            if !way.insert(current).inserted {
                moveToRoot(name, of: current, "\(Self.text(name.bytes)) was inside itself", &repair)
                break
            }
            current = name.parent
        }
        repair.reached.formUnion(way)
    }

    private mutating func moveToRoot(
        _ name: Name, of item: ItemNumber, _ problem: String, _ repair: inout NameRepair
    ) {
        let new = repair.freeName(like: name.bytes, item)
        remove(name, of: item)
        names[item, default: []].append(Name(parent: .root, bytes: new, rank: name.rank))
        repair.adjusted.formUnion([.root, name.parent])
        fix(
            "\(problem); it is \(Self.text(new)) at the root now", item,
            [
                .removeName(parent: name.parent, name: name.bytes),
                .putName(parent: .root, name: new, item: item, rank: name.rank),
            ])
    }

    private mutating func remove(_ name: Name, of item: ItemNumber) {
        names[item]?.removeAll { $0.parent == name.parent && $0.bytes == name.bytes }
    }

    /// - Parameter adjusted: whose count a repair has changed, which is no damage of its own.
    private mutating func checkLinks(_ adjusted: Set<ItemNumber>) {
        var subdirectories: [ItemNumber: UInt32] = [:]
        for (item, list) in names where isDirectory(item) {
            for name in list { subdirectories[name.parent, default: 0] += 1 }
        }
        for (item, row) in rows.sorted(by: { $0.key < $1.key }) {
            let expected =
                isDirectory(item)
                ? 2 + subdirectories[item, default: 0] : UInt32(names[item, default: []].count)
            if row.links == expected { continue }
            var right = row
            right.links = expected
            rows[item] = right
            if adjusted.contains(item) {
                amend(item, [.putItem(right)])
            } else {
                fix(
                    "\(path(item)) counted \(Count.words(row.links, "link")) instead of \(expected)",
                    item,
                    [.putItem(right)])
            }
        }
    }

    /// Extended attributes belong to something, and numbers that are given out later are new.
    mutating func checkAttributes() throws(Failure) {
        var strays: [(item: ItemNumber, name: [UInt8])] = []
        let known = rows
        try database.loadAttributes { item, name, _ in
            if known[item] == nil { strays.append((item, Array(name))) }
        }
        for (item, name) in strays {
            fix(
                "the attribute \(Self.text(name)) belonged to a missing item \(item.rawValue)",
                item,
                [.removeAttribute(item, name: name)])
        }
        let highest = rows.values.map { max($0.number.rawValue, $0.document.rawValue) }.max() ?? 0
        if highest > database.highestNumber,
            let last = rows.values.max(by: { $0.number < $1.number })
        {
            // Putting a row moves the counter.
            fix(
                "numbers up to \(highest) are in use, but were to be given out again", last.number,
                rows.values.filter { max($0.number.rawValue, $0.document.rawValue) == highest }
                    .map { .putItem($0) })
        }
    }
}
