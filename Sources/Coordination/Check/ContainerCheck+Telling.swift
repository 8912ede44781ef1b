internal import Catalog
internal import Content
internal import Model

/// What the catalog tells twice: a file has the place, the hash and the size of its current version,
/// too. Where the two differ, the one counts whose content is there.
extension ContainerCheck {
    /// The version as it is told elsewhere, if that is where its content is, and not where the version's
    /// own row leads.
    mutating func toldElsewhere(
        _ version: VersionRow, _ verdict: Verdict, _ name: String
    ) -> VersionRow? {
        let told = toldByItem(version)
        if isThere(version, verdict) {
            if let told, told.hash != version.hash || told.size != version.size, isGuess(version),
                isGuess(told)
            {
                undecided.insert(version.node)
                find(
                    "\(name) is told in two ways, and the store did not say which of them it has: "
                        + "check again when it answers", repaired: false)
            }
            return nil
        }
        for var other in [told, placed(version)].compactMap({ $0 }) {
            let verdict = self.verdict(of: other)
            guard isThere(other, verdict) else { continue }
            if case .wrongSize(let size) = verdict { other.size = size }
            fix("\(name) was not told as it is", version.item, [.putVersion(other)])
            return other
        }
        return nil
    }

    /// As its file has it, if that is the current version and has it in another way.
    private func toldByItem(_ version: VersionRow) -> VersionRow? {
        guard let row = rows[version.item], row.node == version.node,
            row.hash != version.hash || row.place != version.place || row.size != version.size
        else { return nil }
        var told = version
        (told.place, told.hash, told.size, told.blocks) = (
            row.place, row.hash, row.size, row.blocks
        )
        return told
    }

    /// Where its content would be, if it is said to be nowhere.
    private func placed(_ version: VersionRow) -> VersionRow? {
        guard version.place == .none else { return nil }
        var placed = version
        placed.place = version.hash == nil ? .staged : .sealed
        return placed
    }

    /// Whether the content is where the version says, as far as is known.
    private func isThere(_ version: VersionRow, _ verdict: Verdict) -> Bool {
        switch verdict {
        case .whole: version.place != .promised || isHere(version) || isStored(version)
        case .wrongSize: version.place != .none
        case .damaged, .unreadable: false
        }
    }

    /// Whether nothing but this says that there is such a content.
    private func isGuess(_ version: VersionRow) -> Bool {
        version.place == .promised && stored == nil && !isHere(version)
    }

    private func isHere(_ version: VersionRow) -> Bool {
        version.hash.map(content.hasBlob) ?? false
    }

    /// What was imported and never fetched leads to where its content is.
    mutating func checkOrigins() throws(Failure) {
        for (item, row) in rows.sorted(by: { $0.key < $1.key }) where row.place == .elsewhere {
            guard let name = row.hash, try database.place(content: name) == nil else { continue }
            // The item tells of which object it is.
            if var origin = try database.origin(item), try database.source(origin.source) != nil {
                origin.content = name
                fix(
                    "\(path(item)) was not known by its content's name at its source", item,
                    [.putOrigin(origin)])
            } else {
                find(
                    "\(path(item)): where its content is to be had from is lost; remove it and import it "
                        + "again", repaired: false)
            }
        }
    }

    /// Rows that SQLite can read and nobody else keep no others from being read: so this comes before
    /// recovery.
    mutating func checkReadable() throws(Failure) {
        let hasStore = try database.meta(Container.storeKey) != nil
        for problem in try database.mendUnreadableRows(hasStore: hasStore) {
            find(problem, repaired: true)
        }
    }
}

extension ContentPlace {
    /// Whether the content is to be found in the same way.
    func isLike(_ other: ContentPlace) -> Bool {
        isNamed == other.isNamed && isAway == other.isAway
            && (self == .none) == (other == .none)
            && (self == .elsewhere) == (other == .elsewhere)
    }
}
