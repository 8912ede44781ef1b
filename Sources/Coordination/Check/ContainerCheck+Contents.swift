internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Versions and their bytes: every hash is calculated anew.
extension ContainerCheck {
    /// What the bytes of a version are.
    enum Verdict {
        case whole
        /// They are what was saved; the catalog has another size.
        case wrongSize(Int64)
        case damaged(String)
        /// They may be what was saved: another time, or on a machine with room, it can be seen.
        case unreadable(String)
    }

    /// Versions by what they are of: to look through all of them for each document takes hours where
    /// there are many.
    private struct Histories {
        var ofItems: [ItemNumber: [NodeNumber]] = [:]
        var ofDocuments: [DocumentID: [NodeNumber]] = [:]
    }

    mutating func checkContents() throws(Failure) {
        var versions: [NodeNumber: VersionRow] = [:]
        var order: [NodeNumber] = []
        var histories = Histories()
        var inStore: Set<ContentHash> = []
        try database.forEachVersion {
            versions[$0.node] = $0
            order.append($0.node)
            if let hash = $0.hash, $0.place == .stored || $0.place == .promised {
                inStore.insert(hash)
            }
            histories.ofItems[$0.item, default: []].append($0.node)
            histories.ofDocuments[$0.document, default: []].append($0.node)
        }
        var lost: Set<NodeNumber> = []
        var known: [ContentHash: Verdict] = [:]
        for node in order {
            guard var version = versions[node] else { continue }
            let verdict = verdict(of: version, &known)
            let name = "\(path(version.item)), version \(version.ordinal)"
            if let told = toldElsewhere(version, verdict, name) {
                versions[node] = told
                continue
            }
            if case .damaged = verdict, isInStore(version, inStore) { version.place = .stored }
            switch verdict {
            case .damaged(let problem) where isUnasked(version):
                find(
                    "\(name): \(problem); the store may have another copy, but did not answer: check "
                        + "again when it does", repaired: false)
            case .damaged(let problem)
            where version.place == .stored && isStored(version):
                versions[node] = refer(version, name, problem)
            case .damaged(let problem) where version.place == .promised:
                forsake(version, name, problem)
            case .damaged(let problem):
                lost.insert(node)
                find("\(name): \(problem)", repaired: false)
            case .unreadable(let problem): find("\(name): \(problem)", repaired: false)
            case .wrongSize(let size):
                var right = version
                right.size = size
                versions[node] = right
                fix(
                    "\(name) counted \(Count.words(version.size, "byte")) instead of \(size)",
                    version.item,
                    [.putVersion(right)])
            case .whole: if let again = checkStored(version, name) { versions[node] = again }
            }
        }
        for (item, row) in rows.sorted(by: { $0.key < $1.key }) {
            switch row.mode & S_IFMT {
            case S_IFREG: try checkCurrent(row, histories, &versions, &lost)
            case S_IFLNK: checkTarget(row)
            case S_IFDIR, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK: break
            default: find("\(path(item)) has no type that there is", repaired: false)
            }
        }
        // Earlier versions without their bytes are not offered any more.
        for node in order where lost.contains(node) && rows[node.item]?.node != node {
            amend(node.item, [.removeVersion(node.item, node.ordinal)])
        }
        checkHistories(order.compactMap { lost.contains($0) ? nil : versions[$0] })
    }

    /// Versions of no document are seen by nobody: they only take room, or will when they are current no more.
    private mutating func checkHistories(_ versions: [VersionRow]) {
        // Only files are documents: a directory or a symlink has no history.
        let documents = Set(rows.values.lazy.filter { $0.mode & S_IFMT == S_IFREG }.map(\.document))
        var gone: [NodeNumber] = []
        for version in versions
        where !documents.contains(version.document)
            && rows[version.item]?.document != version.document
        {
            guard let row = rows[version.item] else {
                gone.append(version.node)
                continue
            }
            var right = version
            right.document = row.document
            fix(
                "\(path(row.number)), version \(version.ordinal) was of no document", row.number,
                [.putVersion(right)])
        }
        guard let first = gone.first else { return }
        fix(
            "\(Count.words(gone.count, "version")) of documents that are gone had been kept",
            first.item,
            gone.map { .removeVersion($0.item, $0.ordinal) })
    }

    /// Whether the store has the content of a version that does not count on it: it went there for another
    /// one, or that it did has not been recorded.
    ///
    /// - Parameter inStore: what others count on.
    private func isInStore(_ version: VersionRow, _ inStore: Set<ContentHash>) -> Bool {
        guard version.place == .sealed, let hash = version.hash else { return false }
        return inStore.contains(hash) || stored?[hash] == version.size
    }

    /// Whether it is not known if the store has a content: as long as it may not, what is here is all
    /// there is of it, damaged or not.
    private func isUnasked(_ version: VersionRow) -> Bool {
        guard stored == nil, version.place == .stored || version.place == .promised else {
            return false
        }
        return version.hash.map(content.hasBlob) ?? false
    }

    /// Whether the store has the content, as far as is known.
    func isStored(_ version: VersionRow) -> Bool {
        guard let stored, let hash = version.hash else { return true }
        return stored[hash] == version.size
    }

    /// A copy here that is damaged goes: the one in the store takes its place when it is asked for.
    private mutating func refer(_ version: VersionRow, _ name: String, _ problem: String)
        -> VersionRow
    {
        if let hash = version.hash { content.evictBlob(hash) }
        return move(
            version, to: .promised, "\(name): \(problem); the container's store has another copy")
    }

    /// A promise counts on nothing that is here: its copy goes if it is damaged, and the promise stays.
    private mutating func forsake(_ version: VersionRow, _ name: String, _ problem: String) {
        guard isStored(version) else {
            find("\(name): \(problem), and the store does not have it", repaired: false)
            return
        }
        // Another version with the same content may have been the one that missed it.
        guard let hash = version.hash, content.hasBlob(hash) else { return }
        content.evictBlob(hash)
        find("\(name): \(problem); it comes again from the store", repaired: true)
    }

    /// A whole version that the store should have: what it lost goes there again, if it is here.
    private mutating func checkStored(_ version: VersionRow, _ name: String) -> VersionRow? {
        guard let stored, let hash = version.hash, stored[hash] != version.size,
            version.place == .stored || version.place == .promised
        else { return nil }
        let problem = "\(name): the store does not have its content"
        guard content.hasBlob(hash) else {
            // Its promise stays: the store may be another one than it was.
            find(problem, repaired: false)
            return nil
        }
        return move(version, to: .sealed, problem + "; it goes there again")
    }

    /// Its bytes are at another place than the catalog says.
    private mutating func move(_ version: VersionRow, to place: ContentPlace, _ problem: String)
        -> VersionRow
    {
        var moved = version
        moved.place = place
        var effects: [Effect] = [.putVersion(moved)]
        if var row = rows[version.item], row.node == version.node {
            row.place = place
            rows[version.item] = row
            effects.append(.putItem(row))
        }
        fix(problem, version.item, effects)
        return moved
    }

    /// Equal contents are looked at once, whatever sizes are told of them.
    private func verdict(of version: VersionRow, _ known: inout [ContentHash: Verdict]) -> Verdict {
        guard let hash = version.hash, version.place.isBlob else { return verdict(of: version) }
        let verdict = known[hash] ?? verdict(of: version)
        switch verdict {
        case .whole: known[hash] = .wrongSize(version.size)
        case .wrongSize(let size):
            known[hash] = verdict
            return size == version.size ? .whole : verdict
        case .damaged, .unreadable: known[hash] = verdict
        }
        return verdict
    }

    func verdict(of version: VersionRow) -> Verdict {
        var reference = ContentReference(
            node: version.node, place: version.place, hash: version.hash, size: version.size)
        defer { content.forget(version.node) }
        // What is in the store is verified when it comes.
        if version.place == .promised, let hash = version.hash, !content.hasBlob(hash) {
            let canBe = (0...VersionRow.largestSize).contains(version.size)
            return canBe ? .whole : stored?[hash].map { .wrongSize($0) } ?? .whole
        }
        // What has never been here cannot be damaged.
        if version.place == .elsewhere { return .whole }
        do throws(Errno) {
            guard let file = try content.open(reference, anyLength: true) else {
                if version.hash != nil { return .damaged("its content has no place") }
                return version.size == 0 ? .whole : .wrongSize(0)
            }
            let size = try file.status().size
            let otherSize = Verdict.damaged(
                "its content has \(Count.words(size, "byte")), not \(version.size)")
            guard let hash = version.hash else {
                return size == version.size ? .whole : otherSize
            }
            // A file that only goes on after what was saved is not read to its end: that may be far, and empty.
            if version.size >= 0, version.size < size,
                try content.hash(reference, anyLength: true)?.hash == hash
            {
                return otherSize
            }
            reference.size = size
            guard try content.hash(reference)?.hash == hash else {
                return size == version.size
                    ? .damaged("its content is not what was saved (the hash differs)") : otherSize
            }
            return size == version.size ? .whole : .wrongSize(size)
        } catch {
            if error.code == ENOENT, !leadsNowhere(version) {
                return .damaged("its content is missing")
            }
            return .unreadable(
                "its content cannot be read now (\(error)); it was left alone: check again when the "
                    + "reason is gone")
        }
    }

    /// Whether a link stands for the content, or for the folder it is in: where it leads to may be a disk
    /// that is not attached now.
    private func leadsNowhere(_ version: VersionRow) -> Bool {
        let path =
            version.place.isBlob
            ? version.hash.map(content.folder.blob) : content.folder.staging(version.node)
        guard let path, let slash = path.lastIndex(of: "/") else { return false }
        return [path, String(path[..<slash])].contains { ForeignFiles.kind(of: $0) == S_IFLNK }
    }

    /// The current version of a file: there, whole, and told alike by the item.
    private mutating func checkCurrent(
        _ row: ItemRow, _ histories: Histories, _ versions: inout [NodeNumber: VersionRow],
        _ lost: inout Set<NodeNumber>
    ) throws(Failure) {
        let own = histories.ofItems[row.number]?.map(\.ordinal).max() ?? 0
        let last = max(own, row.ordinal)
        let cannotBe = row.nextOrdinal > NodeNumber.largestOrdinal + 1
        if cannotBe || last >= row.nextOrdinal {
            var right = row
            right.nextOrdinal = last + 1
            rows[row.number] = right
            fix(
                "\(path(row.number)) would have given a version's number "
                    + (cannotBe ? "that cannot be" : "again"), row.number, [.putItem(right)])
        }
        guard let row = rows[row.number], row.ordinal != 0 else { return }
        if versions[row.node] == nil { restoreVersion(of: row, &versions, &lost) }
        if lost.contains(row.node) {
            fallBack(row, histories, versions, lost)
        } else if let version = versions[row.node], !undecided.contains(row.node),
            row.size != version.size || !row.place.isLike(version.place)
                || row.place.isNamed && row.hash != version.hash
        {
            var right = row
            right.size = version.size
            right.blocks = version.blocks
            right.place = version.place
            right.hash = version.hash
            rows[row.number] = right
            fix(
                "\(path(row.number)) was not told as its current version is (\(row.size) bytes "
                    + "instead of \(version.size))", row.number, [.putItem(right)])
        }
    }

    /// The row of a current version is missing; the item tells as much, if the bytes are there.
    private mutating func restoreVersion(
        of row: ItemRow, _ versions: inout [NodeNumber: VersionRow], _ lost: inout Set<NodeNumber>
    ) {
        let version = VersionRow(
            document: row.document, item: row.number, ordinal: row.ordinal, size: row.size,
            blocks: row.blocks, modified: row.modified, published: now, author: row.user,
            place: row.place, hash: row.hash)
        let problem = "\(path(row.number)) has a current version that the catalog does not know"
        switch verdict(of: version) {
        case .whole:
            versions[row.node] = version
            fix(problem, row.number, [.putVersion(version)])
        case .unreadable(let reason): find("\(problem); \(reason)", repaired: false)
        case .damaged, .wrongSize:
            lost.insert(row.node)
            find(problem, repaired: false)
        }
    }

    /// The newest version that is whole becomes the current one.
    private mutating func fallBack(
        _ row: ItemRow, _ histories: Histories, _ versions: [NodeNumber: VersionRow],
        _ lost: Set<NodeNumber>
    ) {
        // Also what the file held as another document, as one that became a backup did.
        let nodes =
            histories.ofDocuments[row.document, default: []]
            + histories.ofItems[row.number, default: []]
        let whole = nodes.compactMap { versions[$0] }
            .filter { !lost.contains($0.node) && $0.place.isNamed }
            .max { ($0.published, $0.ordinal) < ($1.published, $1.ordinal) }
        guard var earlier = whole else {
            find("\(path(row.number)) has no whole version left", repaired: false)
            return
        }
        var right = row
        let ordinal = row.nextOrdinal
        right.nextOrdinal += 1
        right.ordinal = ordinal
        right.size = earlier.size
        right.blocks = earlier.blocks
        right.modified = earlier.modified
        right.place = earlier.place
        right.hash = earlier.hash
        earlier.item = row.number
        earlier.ordinal = ordinal
        earlier.published = now
        fix(
            "\(path(row.number)) went back to its last whole version"
                + setAside(row, versions, lost),
            row.number,
            [.putItem(right), .putVersion(earlier), .removeVersion(row.number, row.ordinal)])
        rows[row.number] = right
    }

    /// Keeps what is left of a damaged content that no version has any more: who wants it can take it out.
    /// Says where it is.
    private func setAside(
        _ row: ItemRow, _ versions: [NodeNumber: VersionRow], _ lost: Set<NodeNumber>
    ) -> String {
        guard row.place.isBlob, let hash = row.hash, content.hasBlob(hash),
            !versions.values.contains(where: { $0.hash == hash && !lost.contains($0.node) }),
            let place = try? content.setAside(hash)
        else { return "" }
        return "; what is left of the damaged one is \(place)"
    }

    private mutating func checkTarget(_ row: ItemRow) {
        guard let target = row.target, target.count <= MemoryIndex.longestTarget else {
            find("the symlink \(path(row.number)) has lost where it leads", repaired: false)
            return
        }
        if row.size == Int64(target.count) { return }
        var right = row
        right.size = Int64(target.count)
        rows[row.number] = right
        fix(
            "the symlink \(path(row.number)) counted \(Count.words(row.size, "byte")) instead of \(target.count)",
            row.number, [.putItem(right)])
    }
}
