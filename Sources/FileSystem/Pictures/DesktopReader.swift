internal import Catalog
internal import Glibc

/// The user who mounted, and what that user may read.
struct DesktopReader: Sendable {
    private let user = geteuid()
    private let groups: Set<UInt32>

    init() {
        var list = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(Int32(list.count), &list)
        groups = Set(list.prefix(max(0, Int(count)))).union([getegid()])
    }

    /// Whether nothing is kept from the user.
    var isRoot: Bool { user == 0 }

    /// Whether the item can be read, and reached in a directory.
    func mayRead(
        _ position: MemoryIndex.Position, in directory: MemoryIndex.Position, _ index: MemoryIndex
    ) -> Bool {
        if isRoot { return true }
        guard allows(4, index[item: position].pointee) else { return false }
        var above = directory
        while above != 0 {
            if !allows(1, index[item: above].pointee) { return false }
            above = index.parent(of: above)
        }
        return true
    }

    private func allows(_ right: UInt32, _ record: ItemRecord) -> Bool {
        if record.user == user { return record.mode & right << 6 != 0 }
        if groups.contains(record.group) { return record.mode & right << 3 != 0 }
        return record.mode & right != 0
    }
}
