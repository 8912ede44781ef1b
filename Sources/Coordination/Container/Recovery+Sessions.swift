internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import SystemCalls

/// What was being written when the container was left.
extension Recovery {
    /// Finds the contents that had no file of their own yet.
    ///
    /// A file that is there was made whole, and what was written later is only in it. After a power
    /// loss it may have lost its bytes; then the entry counts if it is what was published. What has become
    /// of an entry that is damaged is nobody's document, but the user may find in it what it was.
    mutating func adoptPacked(_ sessions: [SessionRow], _ versions: [VersionRow])
        throws(Failure)
    {
        let unfinished = Set(sessions.map(\.node))
        let published = Dictionary(versions.map { ($0.node, $0) }) { $1 }
        let isPowerLoss = report.afterPowerLoss
        let lost = report.lacksJournal ? self.lost : nil
        if let pack = content.packed.oddPack { throw Container.oddFile(pack) }
        do throws(Errno) {
            let damaged = try content.packed.adopt { node, size, modified in
                let isThere = content.isStaged(node)
                if let version = published[node] {
                    // An entry before the one that was published is not this version.
                    return version.size == size
                        && (!isThere || isPowerLoss && version.modified == modified)
                }
                return !isThere
                    && (unfinished.contains(node)
                        || lost.map { (try? $0.isUnknown(node)) ?? true } ?? false)
            }
            for node in damaged {
                let isThere = content.isStaged(node)
                let version = published[node]
                // One that cannot be read now is set aside.
                let mayBeWhole = version.map { (try? isWhole($0)) ?? true } ?? false
                if isPowerLoss, isThere || !mayBeWhole {
                    content.packed.remove(node)
                } else {
                    try content.setAside(node)
                    // Of an earlier version check says so.
                    if index.holder(of: node) != 0 || unfinished.contains(node) {
                        report.damaged.append(node.item)
                    }
                }
            }
        } catch {
            throw Failure(.inputOutput, "\(content.folder.packs): \(error)")
        }
    }

    /// Publishes or discards an acknowledged session; says whether its staging file is in use now.
    mutating func resume(_ row: SessionRow) throws(Failure) -> Bool {
        let position = index.find(row.item)
        if position != 0 { content.takeFromWriters(row.node) }
        let found = position == 0 ? nil : try contentStatus(row.node)
        if position != 0, found == nil, !report.damaged.contains(row.item),
            row.synced || row.wrote && !report.afterPowerLoss
        {
            report.missing.append(row.item)
        }
        guard position != 0, var status = found, isAcknowledged(row, status) else {
            record(.discarded, row.item, [.removeSession(row.item, row.ordinal)])
            report.discarded += 1
            return false
        }
        let record = index[item: position]
        // Its own time is only in the row.
        if status.modified == WriteSession.unwritten { status.modified = row.modified }
        record.pointee.setContent(
            status, ordinal: row.ordinal, place: row.synced ? .durable : .staged)
        record.pointee.nextOrdinal = max(record.pointee.nextOrdinal, row.ordinal + 1)
        let version = VersionRow(
            document: DocumentID(rawValue: record.pointee.document), item: row.item,
            ordinal: row.ordinal, size: status.size, blocks: status.blocks,
            modified: status.modified, published: time, author: row.author,
            place: record.pointee.place, hash: nil)
        self.record(
            .published, row.item,
            [
                .putItem(index.row(position)), .putVersion(version),
                .removeSession(row.item, row.ordinal),
            ])
        report.published += 1
        return true
    }

    /// Notes a document whose published content should be in the folder and is not.
    mutating func noteAbsent(_ version: VersionRow) throws(Failure) {
        guard !clean, version.place == .staged, index.holder(of: version.node) != 0,
            !report.damaged.contains(version.item), try contentStatus(version.node) == nil
        else { return }
        report.absent.append(version.item)
    }

    /// What there is of a session's content; `nil` if it is gone. One that only cannot be read now is not
    /// to be given up for that.
    func contentStatus(_ node: NodeNumber) throws(Failure) -> FileStatus? {
        do throws(Errno) { return try content.stagingStatus(node) } catch {
            if error.code == ENOENT { return nil }
            throw unreadable(node, error)
        }
    }

    private func unreadable(_ node: NodeNumber, _ error: Errno) -> Failure {
        Failure(
            error.code == EACCES || error.code == EPERM ? .noPermission : .inputOutput,
            "\(content.folder.staging(node)): \(error); what was saved last of a document is in it. "
                + "Make it a file that can be read and written, or move it away to go on with the "
                + "version before")
    }

    /// Whether the staging file holds what a close or an fsync acknowledged.
    func isAcknowledged(_ row: SessionRow, _ status: FileStatus) -> Bool {
        let same =
            status.size == row.size
            && (status.modified == row.modified || status.modified == WriteSession.unwritten)
        if !report.afterPowerLoss {
            // Written again since, and not closed since: all bytes that were acknowledged are there.
            return same || row.wrote || row.synced
        }
        return row.synced
    }

    /// The hash of a staged content; `nil` if it is gone, or has another length. One that only cannot be
    /// read now is not to be given up for that either.
    func hash(_ node: NodeNumber, _ size: Int64) throws(Failure) -> ContentHash? {
        guard try contentStatus(node)?.size == size else { return nil }
        let staged = ContentReference(node: node, place: .staged, hash: nil, size: size)
        do throws(Errno) {
            guard let result = try content.hash(staged), result.size == size else { return nil }
            return result.hash
        } catch { throw unreadable(node, error) }
    }
}
