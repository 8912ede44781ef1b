/// Paths in a tree of what is there and was not shown: nobody may take it for removed. They may be as many as
/// whoever lists the tree likes: from ``largest`` on all of the tree counts as hidden.
package struct HiddenPaths: Hashable, Sendable {
    /// Those at which something is hidden, and nothing below it.
    package private(set) var alone: Set<[UInt8]> = []
    /// Those of folders, or what may be one: all below is hidden, too.
    package private(set) var withAllBelow: Set<[UInt8]> = []
    /// Bytes that the paths take in memory.
    private var size = 0

    /// The most bytes that are taken for paths.
    package static let largest = 8 << 20
    /// What a path takes beside its bytes.
    private static let overhead = 64

    package init() {}

    package var isEmpty: Bool { alone.isEmpty && withAllBelow.isEmpty }

    /// Whether all of the tree is hidden.
    package var isAll: Bool { withAllBelow.contains([]) }

    /// - Parameter path: the empty one is that of the tree itself.
    package mutating func insert(_ path: [UInt8], withAllBelow hasAllBelow: Bool) {
        if isAll { return }
        let isNew =
            if path.isEmpty || hasAllBelow {
                withAllBelow.insert(path).inserted
            } else {
                alone.insert(path).inserted
            }
        if isNew { size += path.count + Self.overhead }
        if path.isEmpty || size > Self.largest {
            self = HiddenPaths()
            withAllBelow = [[]]
        }
    }

    mutating func add(_ other: HiddenPaths) {
        for path in other.alone { insert(path, withAllBelow: false) }
        for path in other.withAllBelow { insert(path, withAllBelow: true) }
    }

    package func contains(_ path: [UInt8]) -> Bool {
        if isAll || alone.contains(path) || withAllBelow.contains(path) { return true }
        if withAllBelow.isEmpty { return false }
        return path.indices.contains {
            path[$0] == 0x2f && withAllBelow.contains(Array(path[..<$0]))
        }
    }
}
