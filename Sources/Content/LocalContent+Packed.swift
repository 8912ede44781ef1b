internal import Glibc
package import Model
internal import PathText
package import SystemCalls

/// Small contents without a file of their own. Everything that asks for a descriptor has the file
/// made; what is here gets by without.
extension LocalContent {
    /// Begins an empty session that is packed, while there is so much room that the disk will not be
    /// full when it is recorded; says whether it does.
    package func beginPacked(_ node: NodeNumber) -> Bool { hasAmpleRoom && packed.begin(node) }

    package func isPacked(_ node: NodeNumber) -> Bool { packed.contains(node) }

    /// What fstat tells of a session's content, or would if it had a file.
    package func stagingStatus(_ node: NodeNumber) throws(Errno) -> FileStatus {
        if let status = packed.status(node) { return status }
        let status = try openStaging(node).status()
        WallClock.note(seconds: status.changed.seconds, nanoseconds: status.changed.nanoseconds)
        return status
    }

    /// Sets a staged content's modification time.
    package func setModified(_ node: NodeNumber, _ moment: Timestamp) throws(Errno) {
        if packed.setModified(node, moment) { return }
        try openStaging(node).with { (file) throws(Errno) in
            try file.setModified(moment.seconds, moment.nanoseconds)
        }
    }

    /// Writes to a packed session, as ``PackedContents/write(_:at:to:)``; `false` if it needs a file.
    package func writePacked(_ bytes: [UInt8], at offset: Int64?, to node: NodeNumber) -> Bool {
        packed.write(bytes, at: offset, to: node)
    }

    /// Makes what a session has written survive the daemon, if it does not anyway.
    package func record(_ node: NodeNumber) throws(Errno) { try packed.record(node) }

    /// Does that before it has to be, while the client goes on: most small documents are written at once, and
    /// the close finds it done. Once only: what is written in pieces would be recorded with each of them.
    package func recordAhead(_ node: NodeNumber) { try? packed.record(node, onlyFirst: true) }

    /// A recorded content becomes a version's: it does not change any more.
    package func settle(_ node: NodeNumber) { packed.settle(node) }

    /// Where a packed content can be read; `nil` for one with a file.
    package func part(_ node: NodeNumber) -> ContentPart? { packed.part(node) }

    /// Gives a packed content a file of its own among the staging files. One that has a file stays
    /// as it is.
    ///
    /// The file appears whole or not at all, so that recovery can trust the one that is there.
    package func spill(_ node: NodeNumber) throws(Errno) {
        if !packed.contains(node) { return }
        try spilling.withLock { (_) throws(Errno) in
            let isWanted = try packed.move(node) { (bytes, modified) throws(Errno) in
                try makeStaging(node, bytes, modified)
            }
            if !isWanted { removeStaging(node) }
        }
    }

    private func makeStaging(
        _ node: NodeNumber, _ bytes: ArraySlice<UInt8>, _ modified: Timestamp
    ) throws(Errno) {
        let path = folder.spare + "/" + String(takeSpare())
        do throws(Errno) {
            let file = try OwnedDescriptor.openOwn(path, O_RDWR | O_TRUNC)
            try file.write(Array(bytes), at: 0)
            try file.setModified(modified.seconds, modified.nanoseconds)
            try check { rename(path.cPath, folder.staging(node).cPath) }
            insert(SharedDescriptor(file), for: node)
        } catch {
            unlink(path.cPath)
            throw error
        }
    }

    /// Removes packs whose contents are elsewhere or gone. What is elsewhere is made durable first.
    ///
    /// - Parameters:
    ///   - ending: nothing more will be packed.
    ///   - isSettled: as in ``synchronize(until:isSettled:)``.
    package func removeUnusedPacks(ending: Bool, isSettled: Bool) {
        guard isSettled || trustsDisk else { return }
        let unused = packed.takeUnused(ending: ending)
        if unused.isEmpty { return }
        do throws(Errno) {
            try synchronizeDisk()
        } catch {
            // The packs stay: the next mount looks again.
            return
        }
        for path in unused { unlink(path.cPath) }
    }
}
