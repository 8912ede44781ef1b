import Documents

/// The solids and groups of a scene in one row, each group before what is in it.
struct SceneParts: Selectable {
    /// A solid or group.
    struct Entry {
        /// Its place among its neighbours, from 0.
        let number: Int
        /// How many groups it is in.
        let depth: Int
        let node: SceneNode
        /// Where the group around it is in the row; nil outside of groups.
        let parent: Int?
    }

    let entries: [Entry]
    let index: PartIndex

    init(_ scene: Scene) {
        var entries: [Entry] = []
        entries.reserveCapacity(scene.nodes.count)
        func add(_ nodes: [SceneNode], _ depth: Int, _ parent: Int?) {
            for (number, node) in nodes.enumerated() {
                entries.append(Entry(number: number, depth: depth, node: node, parent: parent))
                if case .group(let group) = node {
                    add(group.children, depth + 1, entries.count - 1)
                }
            }
        }
        add(scene.nodes, 0, nil)
        self.entries = entries
        index = PartIndex(
            entries.map(\.node.outline), noun: "solid", kinds: SceneParts.kinds,
            reserved: SceneParts.reserved)
    }

    /// The indices that lead to a part from the outermost group.
    func path(of index: Int) -> [Int] {
        var path: [Int] = []
        var next: Int? = index
        while let part = next {
            path.append(entries[part].number)
            next = entries[part].parent
        }
        return path.reversed()
    }

    /// What labels begin with.
    static let kinds = SolidKind.allCases.map(\.name) + ["group", "solid"]

    static let reserved: Set = [
        "all", "camera", "title", "background", "bgcolor", "version", "type",
    ]

    func collection(_ word: String) -> [Int]? {
        word == "all" ? entries.indices.filter { entries[$0].parent == nil } : nil
    }

    var count: Int { entries.count }

    func matches(_ pair: KeyValue) -> [Bool?] {
        var solids = FieldMatchers<Solid, SolidKind>(pair)
        var groups = FieldMatchers<Group, Bool>(pair)
        return entries.map { entry in
            switch entry.node {
            case .solid(let solid): solids.matches(solid, of: solid.shape.kind)
            case .group(let group): groups.matches(group, of: true)
            }
        }
    }

    var selectorKeys: [String] {
        let solids = SolidKind.allCases.flatMap { Solid(shape: SolidShape($0)).fields }
        let keys = solids.flatMap { [$0.key] + $0.aliases }
        return Set(keys.map { $0.lowercased() }).sorted()
    }

    func refusals(of pair: KeyValue) -> [String?] {
        SolidKind.allCases.map { Solid(shape: SolidShape($0)) }.refusals(of: pair)
            + [Group()].refusals(of: pair)
    }

    /// The paths to the parts of targets, leaving out what is in a group that is meant itself.
    func outermost(_ targets: [Target]) throws(EditError) -> [[Int]] {
        let found = try find(targets)
        let chosen = Set(found)
        return found.filter { part in
            var parent = entries[part].parent
            while let group = parent {
                if chosen.contains(group) { return false }
                parent = entries[group].parent
            }
            return true
        }.map { path(of: $0) }
    }

    /// The names in use.
    var names: Set<String> { index.names }
}

extension SceneNode {
    /// What it is found by, apart from what is in it.
    var outline: PartIndex.Outline {
        PartIndex.Outline(name: name, kind: kindName, isCounted: !isGroup)
    }
}
