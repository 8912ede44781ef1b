internal import Glibc
internal import Model

/// Kinds of items: what an item is, is also to be seen from what it has.
extension ContainerCheck {
    /// Gives items the kind that they show to have: names are in directories, versions are those of files,
    /// and what leads somewhere is a symlink. Comes before the names are checked, lest they leave a
    /// directory that counts as something else.
    mutating func checkKinds() throws(Failure) {
        let parents = Set(names.values.lazy.flatMap { $0.map(\.parent) })
        var writers: Set<ItemNumber> = []
        try database.forEachVersion { writers.insert($0.item) }
        for (item, row) in rows.sorted(by: { $0.key < $1.key }) {
            let now = row.mode & S_IFMT
            let isKnown = Self.kinds.contains(now) && row.mode & ~0o177777 == 0
            var shown: [mode_t] = []
            // A single name or target that is wrong makes nothing else of what has one kind for sure.
            if parents.contains(item), !isKnown || now == S_IFDIR || row.links > 1 {
                shown.append(S_IFDIR)
            }
            if writers.contains(item) { shown.append(S_IFREG) }
            if let target = row.target, !target.isEmpty,
                !isKnown || now == S_IFLNK || now == S_IFREG && row.size == Int64(target.count)
            {
                shown.append(S_IFLNK)
            }
            // What shows nothing may be anything that there is.
            guard let kind = shown.first ?? (isKnown ? nil : S_IFREG),
                !isKnown || !shown.contains(now)
            else { continue }
            var right = row
            // Who might do what with it is lost as well where the kind was none.
            right.mode = kind | (isKnown ? row.mode & 0o7777 : kind == S_IFDIR ? 0o700 : 0o600)
            if kind == S_IFLNK { right.mode = S_IFLNK | 0o777 }
            rows[item] = right
            fix(
                "\(path(item)) did not count as \(Self.word(kind)), which it is", item,
                [.putItem(right)])
        }
    }

    /// Gives items an owner and a group where they have the numbers that stand for none: nobody could change
    /// them.
    mutating func checkOwners() {
        for (item, row) in rows.sorted(by: { $0.key < $1.key })
        where row.user == .max || row.group == .max {
            var right = row
            if row.user == .max { right.user = geteuid() }
            if row.group == .max { right.group = getegid() }
            rows[item] = right
            fix("\(path(item)) belonged to nobody; it is yours now", item, [.putItem(right)])
        }
    }

    private static let kinds: Set<mode_t> = [
        S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK,
    ]

    private static func word(_ kind: mode_t) -> String {
        switch kind {
        case S_IFDIR: "a directory"
        case S_IFLNK: "a symlink"
        default: "a file"
        }
    }
}
