internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import SystemCalls

/// What nobody needs any more.
extension Recovery {
    /// Removes an item that had no name any more when its last user went away with the daemon, and the
    /// versions that nobody can see without it.
    mutating func remove(
        _ item: ItemNumber, _ kept: inout Set<NodeNumber>
    ) throws(Failure) {
        let position = index.find(item)
        if position == 0 { return }
        let document = DocumentID(rawValue: index[item: position].pointee.document)
        index.removeItem(position)
        var effects: [Effect] = [.removeItem(item)]
        for version in try database.versions(of: document, andOf: item) {
            if let heir = adoption(of: version) {
                if version.document == document { effects.append(heir) }
                continue
            }
            if version.document != document, try isHeld(version.document) { continue }
            effects.append(.removeVersion(version.item, version.ordinal))
            kept.remove(version.node)
            if let hash = version.hash { report.unneeded.insert(hash) }
        }
        record(.purged, item, effects)
        report.removed += 1
    }

    /// Removes what is left of documents that no file is any more: the mount would have done that a moment
    /// later.
    mutating func removeAbandoned(_ kept: inout Set<NodeNumber>) throws(Failure) {
        var gone = try database.documentsThatMoved()
        if gone.isEmpty { return }
        index.forEach { gone.remove(DocumentID(rawValue: $0.document)) }
        for document in gone.sorted(by: { $0.rawValue < $1.rawValue }) {
            let versions = try database.versions(of: document)
            guard let first = versions.first else { continue }
            var effects: [Effect] = []
            var heirs: [Effect] = []
            for version in versions {
                if let heir = adoption(of: version) {
                    heirs.append(heir)
                    continue
                }
                effects.append(.removeVersion(version.item, version.ordinal))
                kept.remove(version.node)
                if let hash = version.hash { report.unneeded.insert(hash) }
            }
            record(.pruned, first.item, effects + heirs)
        }
    }

    /// What is current in a file that lives on, as a backup, is that file's history when its document is gone;
    /// `nil` if it is current in none.
    private func adoption(of version: VersionRow) -> Effect? {
        let heir = index.holder(of: version.node)
        if heir == 0 { return nil }
        return .adoptVersions(
            item: version.item,
            document: DocumentID(rawValue: index[item: heir].pointee.document))
    }

    func isHeld(_ document: DocumentID) throws(Failure) -> Bool {
        index.isHeld(document, by: try database.writers(of: document))
    }

    /// Empties the journal after a loss of power, or of a copy, before the catalog says that this boot has it open:
    /// what is not there in order would be taken for damage, or for changes that follow on new ones.
    static func forget(
        _ journal: Journal, _ report: RecoveryReport, _ database: CatalogDatabase
    ) throws(Failure) {
        if !report.afterPowerLoss && !report.isOfCopy { return }
        try database.checkpoint()
        do throws(Errno) { try journal.clear() } catch {
            throw Failure(
                .inputOutput, "\(journal.folder): \(error)", isDiskFull: error.isNoRoom)
        }
    }

    /// Removes the blobs of what ``run(after:replayed:)`` removed. The catalog has to be on the disk.
    static func removeUnneeded(
        _ report: RecoveryReport, _ database: CatalogDatabase, _ content: LocalContent
    ) throws(Failure) {
        for hash in report.unneeded {
            if try !database.isReferenced(hash) { content.removeBlob(hash) }
        }
    }

    /// Clears the staging folder of what no version and no session refers to, and finishes moves
    /// that were cut off.
    func sweep(_ kept: Set<NodeNumber>) {
        content.packed.forget(except: kept)
        guard let names = try? Directories.names(in: content.folder.staging) else { return }
        for name in names {
            // What does not look like ours stays: the check of the container reports it.
            guard let node = ContainerFolder.node(of: name) else { continue }
            if kept.contains(node) { continue }
            let version: VersionRow?
            // Where the catalog does not answer it may be all there is of a version: the next opening looks.
            do throws(Failure) { version = try database.version(node.item, node.ordinal) } catch {
                continue
            }
            if let version, let hash = version.hash, version.place.isNamed {
                try? content.seal(
                    node, hash: hash, replacing: content.isDamaged(hash, size: version.size))
            } else {
                content.removeStaging(node)
            }
        }
    }
}
