internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Versions that may not have reached the disk.
extension Recovery {
    func isWhole(_ version: VersionRow) throws(Failure) -> Bool {
        guard report.afterPowerLoss, version.place == .staged else { return true }
        if version.published < durableUntil { return true }
        guard let hash = version.hash else { return false }
        return try self.hash(version.node, version.size) == hash
    }

    /// A version was lost with the power: the document's last whole one takes its place.
    mutating func fallBack(_ version: VersionRow) throws(Failure) {
        var effects: [Effect] = [.removeVersion(version.item, version.ordinal)]
        let position = index.holder(of: version.node)
        // An item without a name goes anyway. What it would fall back to is its successor's history
        // now, and would stand there as the newest.
        if position != 0 {
            let record = index[item: position]
            // Also what the file held as another document, as one that became a backup did.
            var earlier = try lastWhole(
                try database.versions(of: version.document, andOf: version.item).filter {
                    $0.node != version.node && $0.published <= version.published
                })
            if let whole = earlier { earlier = try sealed(whole) }
            let ordinal = record.pointee.takeOrdinal()
            record.pointee.ordinal = earlier == nil ? 0 : ordinal
            record.pointee.size = earlier?.size ?? 0
            record.pointee.blocks = MemoryIndex.pages(of: earlier?.blocks ?? 0)
            record.pointee.place = .none
            record.pointee.hash = nil
            if var earlier {
                // Its bytes may have moved among the blobs just now.
                effects.append(.putVersion(earlier))
                record.pointee.modified = earlier.modified.rawValue
                record.pointee.changed =
                    max(
                        Timestamp(rawValue: record.pointee.changed).successor, time
                    ).rawValue
                record.pointee.place = earlier.place
                record.pointee.hash = earlier.hash
                earlier.document = DocumentID(rawValue: record.pointee.document)
                earlier.item = version.item
                earlier.ordinal = ordinal
                earlier.published = time
                effects.append(.putVersion(earlier))
            }
            effects.insert(.putItem(index.row(position)), at: 0)
        }
        record(.repaired, version.item, effects)
        report.fellBack += 1
    }

    private func lastWhole(_ versions: [VersionRow]) throws(Failure) -> VersionRow? {
        let newestFirst = versions.sorted {
            ($0.published, $0.ordinal) > ($1.published, $1.ordinal)
        }
        for version in newestFirst where try isWhole(version) { return version }
        return nil
    }

    /// The version as it is when its content is among the blobs, where ``moveSealed()`` takes it; `nil`
    /// if it has none that can be read.
    mutating func sealed(_ version: VersionRow) throws(Failure) -> VersionRow? {
        if version.place.isNamed { return version }
        // Two items may go back to the same version: a backup that was renamed away, and the
        // document that was written in its place.
        if let known = sealedHere[version.node] { return known }
        guard let hash = try hash(version.node, version.size) else { return nil }
        do throws(Errno) { try content.prepareSealing(version.node, hash: hash) } catch {
            throw Self.sealingFailed(content.folder.blob(hash), error)
        }
        var sealed = version
        sealed.place = .sealed
        sealed.hash = hash
        sealedHere[version.node] = sealed
        noteSealed(sealed)
        return sealed
    }

    /// What others go back to may be what a file has now, as a backup beside a document that lost what was
    /// saved after it: that file has to know, too, where its content is from now on.
    private mutating func noteSealed(_ version: VersionRow) {
        let position = index.holder(of: version.node)
        if position == 0 { return }
        index[item: position].pointee.place = version.place
        index[item: position].pointee.hash = version.hash
        record(.sealed, version.item, [.putItem(index.row(position)), .putVersion(version)])
    }

    /// Moves the contents of versions that others went back to among the blobs.
    ///
    /// Only when the catalog is sure to know: it does not look there for a content whose hash it does not
    /// have. Of what is cut off here ``sweep(_:)`` does the rest at the next opening.
    func moveSealed() throws(Failure) {
        if sealedHere.isEmpty { return }
        try database.checkpoint()
        for (node, version) in sealedHere {
            guard let hash = version.hash else { continue }
            do throws(Errno) {
                try content.seal(
                    node, hash: hash, replacing: content.isDamaged(hash, size: version.size))
            } catch {
                throw Self.sealingFailed(content.folder.blob(hash), error)
            }
        }
    }

    /// Another time it may work: the document is not to be given up for that.
    static func sealingFailed(_ path: String, _ error: Errno) -> Failure {
        Failure(.inputOutput, "\(path): \(error)", isDiskFull: error.isNoRoom)
    }

    /// What came of promises shortly before a power loss may not have reached the disk: it comes
    /// again when somebody asks for it.
    func forgetArrivals() throws(Failure) {
        for hash in try database.promisedHashes() { content.evictBlob(hash) }
        for name in (try? Directories.names(in: content.folder.incoming)) ?? [] {
            unlink((content.folder.incoming + "/" + name).cPath)
        }
    }
}
