internal import Catalog
internal import Glibc
internal import Model
internal import SystemCalls

/// Files without a name (O_TMPFILE): written like any other, seen by nobody, and gone with their last use
/// if linkat(2) has not given them a name by then. After a crash nothing is left of them.
extension VolumeState {
    /// Puts a regular file without a name into the index and records it.
    ///
    /// - Parameter directory: whose file system, group and set-group-id bit count; it does not change.
    func createUnnamed(
        _ directory: MemoryIndex.Position, mode: UInt32, _ caller: Caller, process: Int32
    ) throws(Errno) -> MemoryIndex.Position {
        // As on ext4, though a named file is ENOENT there.
        if index[item: directory].pointee.links == 0 { throw Errno(EPERM) }
        if !index.hasRoom(name: 0) { throw Errno(ENOSPC) }
        let time = Self.now()
        let position = insert(
            in: directory, Volume.Blueprint(mode: mode | S_IFREG), caller, links: 0, time)
        index[item: position].pointee.flags.insert(.isLinkable)
        noteMaker(position, process, time)
        // Nothing that anybody could see has changed.
        _ = record(.staged, position, process: process, at: time)
        return position
    }

    /// What follows when an item without a name, that a program has open, gets one.
    ///
    /// - Returns: effects besides those of the name, and the version of another document that it covers
    ///   without its writer having seen it.
    func noteNamed(
        _ position: MemoryIndex.Position, in directory: MemoryIndex.Position, _ name: [UInt8],
        _ process: Int32, _ time: Timestamp
    ) -> (effects: [Effect], unseen: NodeNumber?) {
        // As on ext4: once it has had a name it is a file like any other.
        index[item: position].pointee.flags.remove(.isLinkable)
        // Else whoever reads before the close would find a document without content.
        sessions[position]?.replaces = true
        return inherit(position, in: directory, name, process, time)
    }

    /// What follows when an item has lost its first name and goes by a later link now. One that its process
    /// has just made, and gave the name of a document that it had removed, is saved so. Before, it is a file
    /// with two names: it would take the document to the first one, and show that one's bytes there if the
    /// machine loses power before its own are on the disk.
    ///
    /// - Returns: `nil` if it stays what it is.
    func noteLinkLeft(
        _ position: MemoryIndex.Position, _ process: Int32, _ time: Timestamp
    ) -> (effects: [Effect], unseen: NodeNumber?)? {
        let record = index[item: position].pointee
        guard record.isRegular, record.firstName != 0, isTemporaryFile(position, process, time)
        else { return nil }
        let name = index[name: record.firstName].pointee
        let inherited = inherit(
            position, in: name.parent, Array(index.nameBytes(record.firstName)), process, time)
        guard index[item: position].pointee.document != record.document else { return nil }
        // Else whoever reads before the close would find a document without content.
        if let session = sessions[position], session.maker != 0 { session.replaces = true }
        return inherited
    }

    /// Tells who follows the name that an item which was saved so has now which document that is, once its first
    /// name has gone.
    ///
    /// - Parameter unseen: as ``noteLinkLeft(_:_:_:)`` has it.
    func tellLinkLeft(
        _ position: MemoryIndex.Position, unseen: NodeNumber?, _ process: Int32, _ time: Timestamp
    ) -> ChangeSequence {
        let sequence = record(.attributes, position, process: process, at: time)
        if let unseen { markConflict(unseen, at: position, by: process) }
        return sequence
    }
}
