/// One of the places of a claim, on its path.
struct ClaimMark: Hashable, Sendable {
    let id: ClaimID
    let access: ClaimAccess

    init(_ id: ClaimID, _ place: ClaimTarget) { (self.id, access) = (id, place.access) }
}

/// Marks on paths, found by what is at, above and below a path.
///
/// Holds a node for every path with a mark and for those above it; what has no mark any more goes.
/// To put a mark and to look above costs a step for each name of the path.
struct ClaimTree<Mark: Hashable & Sendable>: Sendable {
    private struct Node: Sendable {
        var parent: Int
        var name: [UInt8]
        var children: [[UInt8]: Int] = [:]
        var marks: [Mark] = []
    }
    private var nodes = [Node(parent: -1, name: [])]
    private var free: [Int] = []

    /// Whether there is no mark at all.
    var isEmpty: Bool { nodes[0].children.isEmpty && nodes[0].marks.isEmpty }

    mutating func insert(_ mark: Mark, at path: ClaimPath) {
        var node = 0
        for name in path.names {
            if let child = nodes[node].children[name] {
                node = child
                continue
            }
            let new: Int
            if let last = free.popLast() {
                new = last
                nodes[new] = Node(parent: node, name: name)
            } else {
                new = nodes.count
                nodes.append(Node(parent: node, name: name))
            }
            nodes[node].children[name] = new
            node = new
        }
        nodes[node].marks.append(mark)
    }

    /// Takes out one mark; nothing if it is not there.
    mutating func remove(_ mark: Mark, at path: ClaimPath) {
        guard var node = find(path), let index = nodes[node].marks.firstIndex(of: mark) else {
            return
        }
        nodes[node].marks.remove(at: index)
        while node != 0, nodes[node].marks.isEmpty, nodes[node].children.isEmpty {
            let parent = nodes[node].parent
            nodes[parent].children[nodes[node].name] = nil
            free.append(node)
            node = parent
        }
    }

    /// Marks on the path itself, in the order they came.
    func at(_ path: ClaimPath) -> [Mark] { find(path).map { nodes[$0].marks } ?? [] }

    /// Marks on the directories above, the root's first.
    func above(_ path: ClaimPath) -> [Mark] {
        var found: [Mark] = []
        var node = 0
        for name in path.names {
            found += nodes[node].marks
            guard let child = nodes[node].children[name] else { break }
            node = child
        }
        return found
    }

    /// Marks on what is below, in no order, at most `limit` of them.
    func below(_ path: ClaimPath, limit: Int = .max) -> [Mark] {
        guard let start = find(path) else { return [] }
        var found: [Mark] = []
        var next = Array(nodes[start].children.values)
        while let node = next.popLast(), found.count < limit {
            found += nodes[node].marks
            next += nodes[node].children.values
        }
        return found
    }

    private func find(_ path: ClaimPath) -> Int? {
        var node = 0
        for name in path.names {
            guard let child = nodes[node].children[name] else { return nil }
            node = child
        }
        return node
    }
}
