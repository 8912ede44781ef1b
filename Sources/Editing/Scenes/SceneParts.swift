import Documents

/// The solids and groups of a scene in one row, each group before what is in it.
struct SceneParts: Selectable {
    /// A solid or group and the indices that lead to it.
    struct Entry {
        let path: [Int]
        let node: SceneNode
        /// Where the group around it is in the row; nil outside of groups.
        let parent: Int?
    }

    let entries: [Entry]
    let index: PartIndex

    init(_ scene: Scene) {
        var entries: [Entry] = []
        func add(_ nodes: [SceneNode], _ path: [Int], _ parent: Int?) {
            for (number, node) in nodes.enumerated() {
                let place = path + [number]
                entries.append(Entry(path: place, node: node, parent: parent))
                add(node.children, place, entries.count - 1)
            }
        }
        add(scene.nodes, [], nil)
        self.entries = entries
        index = PartIndex(
            entries.map(\.node.outline), noun: "solid", kinds: SceneParts.kinds,
            reserved: SceneParts.reserved)
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

    func matches(_ index: Int, _ pair: KeyValue) -> Bool? {
        switch entries[index].node {
        case .solid(let solid): solid.matches(pair)
        case .group(let group): group.matches(pair)
        }
    }

    var selectorKeys: [String] {
        let solids = SolidKind.allCases.flatMap { Solid(shape: SolidShape($0)).fields }
        let keys = solids.flatMap { [$0.key] + $0.aliases }
        return Set(keys.map { $0.lowercased() }).sorted()
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
        }.map { entries[$0].path }
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
