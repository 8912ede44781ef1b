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

    /// The same for an item that has names. One that its process has just made is a temporary file which is
    /// saved so; any other only gets a further name.
    func noteLinked(
        _ position: MemoryIndex.Position, in directory: MemoryIndex.Position, _ name: [UInt8],
        _ process: Int32, _ time: Timestamp
    ) -> (effects: [Effect], unseen: NodeNumber?) {
        let record = index[item: position]
        guard record.pointee.isRegular, record.pointee.document == record.pointee.number,
            isJustMade(position, process, time)
        else { return ([], nil) }
        return inherit(position, in: directory, name, process, time)
    }
}
