internal import Catalog
internal import Glibc
internal import Model

/// Items whose rows are missing and of which others tell.
extension ContainerCheck {
    /// Makes the item of a document again from its last version: what is lost of it is who owned it, and
    /// who might do what with it.
    mutating func revive(_ version: VersionRow) {
        let item = version.item
        let row = ItemRow(
            number: item, mode: S_IFREG | 0o600, user: getuid(), group: getgid(),
            links: UInt32(names[item]?.count ?? 0), size: version.size, blocks: version.blocks,
            modified: version.modified, changed: now, accessed: version.modified,
            document: version.document, ordinal: version.ordinal,
            nextOrdinal: version.ordinal + 1, place: version.place, hash: version.hash)
        rows[item] = row
        fix(
            "\(path(item)): its item was missing; it is there again as its last version has it, for "
                + "its owner alone", item, [.putItem(row)])
    }

    /// Makes directories again that have a name and names in them, and the root: what is lost is who owned
    /// them, and who might do what with them.
    mutating func reviveDirectories() {
        var held: [ItemNumber: [ItemNumber]] = [:]
        for (item, list) in names {
            for name in list { held[name.parent, default: []].append(item) }
        }
        let missing = held.keys.filter { item in
            rows[item] == nil && NodeNumber.isItem(item.rawValue)
                && (item == .root || names[item] != nil)
        }
        for item in missing.sorted() {
            rows[item] = ItemRow(
                number: item, mode: S_IFDIR | 0o700, user: getuid(), group: getgid(), links: 2,
                modified: now, changed: now, accessed: now,
                document: DocumentID(rawValue: item.rawValue))
        }
        for item in missing.sorted() {
            guard var row = rows[item] else { continue }
            let directories = held[item, default: []].filter { other in
                rows[other].map { $0.mode & S_IFMT == S_IFDIR } ?? false
            }
            row.links += UInt32(directories.count)
            rows[item] = row
            fix(
                "\(path(item)) was missing; it is there again with what is in it, for its owner alone",
                item, [.putItem(row)])
        }
    }
}
