internal import Catalog
internal import Model

/// Symlinks that were seen in listed directories, wherever they lead, and the names that they go by.
struct SeenSymlinks {
    /// Symlinks that are remembered at most.
    private static let limit = 10_000

    private var targets: [ItemNumber: Set<[UInt8]>] = [:]
    /// The names in targets, and of how many.
    private var names: [[UInt8]: Int] = [:]

    var items: [ItemNumber] { Array(targets.keys) }

    var isEmpty: Bool { targets.isEmpty }

    /// Whether one of them has this name in its target.
    func goBy(_ name: [UInt8]) -> Bool { names[name] != nil }

    mutating func add(_ symlink: ItemNumber, to target: [UInt8]) {
        guard targets[symlink] == nil, targets.count < Self.limit else { return }
        let parts = Set(target.split(separator: UInt8(ascii: "/")).map(Array.init))
        targets[symlink] = parts
        for name in parts { names[name, default: 0] += 1 }
    }

    /// A symlink is gone.
    mutating func remove(_ symlink: ItemNumber) {
        for name in targets.removeValue(forKey: symlink) ?? [] {
            names[name] = names[name].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }
}
