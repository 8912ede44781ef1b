import Documents

extension SceneNode {
    /// The nodes in it; none in a solid.
    var children: [SceneNode] {
        get { if case .group(let group) = self { group.children } else { [] } }
        set {
            guard case .group(var group) = self else { return }
            group.children = newValue
            self = .group(group)
        }
    }

    /// Whether it is a group.
    var isGroup: Bool { if case .group = self { true } else { false } }

    /// What it is: the kind of a solid, or `group`.
    var kindName: String {
        switch self {
        case .solid(let solid): solid.shape.kind.name
        case .group: "group"
        }
    }

    /// It and all in it, named by a function of their names.
    func renamed(_ rename: (String) -> String) -> SceneNode {
        var node = self
        if !name.isEmpty { node.name = rename(name) }
        if case .group = self { node.children = children.map { $0.renamed(rename) } }
        return node
    }

    /// Whether it or anything in it is called so.
    func holds(_ name: String) -> Bool {
        self.name == name || children.contains { $0.holds(name) }
    }

    /// How many solids and groups it is, and of how many levels.
    var size: (count: Int, depth: Int) {
        children.reduce(into: (count: 1, depth: 1)) { size, child in
            let inner = child.size
            size = (size.count + inner.count, max(size.depth, inner.depth + 1))
        }
    }

    /// Changes every solid in it, or itself.
    mutating func changeSolids(_ body: (inout Solid) throws(EditError) -> Void) throws(EditError) {
        switch self {
        case .solid(var solid):
            try body(&solid)
            self = .solid(solid)
        case .group(var group):
            for index in group.children.indices { try group.children[index].changeSolids(body) }
            self = .group(group)
        }
    }

    /// It in a few words.
    var words: String {
        switch self {
        case .solid(let solid): "\(solid.shape.kind.name) at \(ValueText.text(transform.position))"
        case .group(let group): "group of \(group.children.count)"
        }
    }
}

extension [SceneNode] {
    /// The node at indices into groups in groups.
    subscript(at path: [Int]) -> SceneNode {
        get { path.dropFirst().reduce(self[path[0]]) { $0.children[$1] } }
        set {
            if path.count == 1 {
                self[path[0]] = newValue
            } else {
                self[path[0]].children[at: Array<Int>(path.dropFirst())] = newValue
            }
        }
    }

    /// Changes the nodes that are together with a node.
    mutating func changeSiblings<Result>(
        of path: [Int], _ body: (inout [SceneNode]) -> Result
    ) -> Result {
        if path.count == 1 { return body(&self) }
        return self[path[0]].children.changeSiblings(of: Array<Int>(path.dropFirst()), body)
    }
}
