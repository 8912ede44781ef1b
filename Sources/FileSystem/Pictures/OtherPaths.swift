internal import Catalog
internal import Model

/// Other paths of directories than their own, after which what is below them may be named elsewhere: those that
/// they had before they were renamed, or those of links to them.
struct OtherPaths: Sendable {
    private var paths: [ItemNumber: Set<[UInt8]>] = [:]

    var isEmpty: Bool { paths.isEmpty }

    /// Says whether it is new.
    @discardableResult
    mutating func add(_ path: [UInt8], of directory: ItemNumber) -> Bool {
        paths[directory, default: []].insert(path).inserted
    }

    /// Removes a path of whatever directory; says whether there was one.
    mutating func remove(_ path: [UInt8]) -> Bool {
        guard let directory = paths.first(where: { $0.value.contains(path) })?.key else {
            return false
        }
        remove(path, of: directory)
        return true
    }

    /// All of them, in no order.
    var count: Int { paths.values.reduce(0) { $0 + $1.count } }

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
                // The root's is empty.
                let needsSlash = now.isEmpty && !path.isEmpty
                let rest = (needsSlash ? [UInt8(ascii: "/")] : []) + path.dropFirst(now.count)
                others += former.map { $0 + rest }
            }
            above = index.parent(of: above)
        }
        return others
    }
}
