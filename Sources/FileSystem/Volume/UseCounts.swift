/// How often each of some things is in use just now. Guarded by its owner.
struct UseCounts<Element: Hashable & Sendable>: Sendable {
    private var counts: [Element: Int] = [:]

    /// Whether nothing is.
    var isEmpty: Bool { counts.isEmpty }

    func contains(_ element: Element) -> Bool { counts[element] != nil }

    mutating func add(_ element: Element) { counts[element, default: 0] += 1 }

    /// One use of those that were added is over.
    mutating func remove(_ element: Element) {
        let left = (counts[element] ?? 1) - 1
        counts[element] = left > 0 ? left : nil
    }
}
