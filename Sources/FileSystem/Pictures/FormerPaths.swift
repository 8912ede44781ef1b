internal import Catalog
internal import Model

/// Where directories were before they were renamed, as long as what is below them may still be named
/// after that elsewhere.
struct FormerPaths: Sendable {
    private var paths: [ItemNumber: Set<[UInt8]>] = [:]

    mutating func add(_ path: [UInt8], of directory: ItemNumber) {
        paths[directory, default: []].insert(path)
    }

    mutating func remove(_ path: [UInt8], of directory: ItemNumber) {
        paths[directory]?.remove(path)
        if paths[directory]?.isEmpty == true { paths[directory] = nil }
    }

    /// Further paths that what is at a path in a directory, or was until now, may be named after.
    func others(
        than path: [UInt8], in directory: MemoryIndex.Position, _ index: MemoryIndex
    ) -> [[UInt8]] {
        if paths.isEmpty { return [] }
        var others: [[UInt8]] = []
        var above = directory
        while above != 0 {
            let former = paths[ItemNumber(rawValue: index[item: above].pointee.number)]
            if let former, let now = index.path(of: above) {
                others += former.map { $0 + path.dropFirst(now.count) }
            }
            above = index.parent(of: above)
        }
        return others
    }
}
