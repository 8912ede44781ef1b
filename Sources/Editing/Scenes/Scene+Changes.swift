import Documents

extension Scene {
    /// What is different in another scene.
    func changes(to other: Scene, inPlace: Bool) -> [Change] {
        var changes = changes(to: other) { $0 }
        changes += UnknownKeys.changes(source, other.source, known: SceneKeys.scene) { $0 }
        changes += camera.changes(to: other.camera) { "camera.\($0)" }
        changes += UnknownKeys.changes(
            camera.source, other.camera.source, known: SceneKeys.camera
        ) { "camera.\($0)" }
        guard nodes != other.nodes else { return changes }
        return changes + SceneComparison(self, other, inPlace: inPlace).changes
    }
}

/// The keys of scenes that are no unknown ones.
enum SceneKeys {
    static let scene: Set = ["version", "title", "background", "camera", "nodes"]
    static let camera: Set = ["position", "target", "rotation", "fieldOfView"]
    static let group: Set = [
        "name", "type", "position", "rotation", "scale", "visible", "children",
    ]
    static let solid = group.subtracting(["children"]).union(["color", "opacity"])

    /// Dimensions of another kind of solid mean nothing and are kept like unknown keys, unless
    /// they belong to the kind the solid had when it was read.
    static func of(_ node: SceneNode) -> Set<String> {
        guard case .solid(let solid) = node else { return group }
        let kinds = [
            solid.shape.kind, solid.source["type"]?.string.flatMap { SolidKind(name: $0) },
        ]
        let dimensions = kinds.compactMap { $0 }.flatMap { SolidShape($0).dimensions }
        return self.solid.union(dimensions.map(\.name))
    }
}

/// Compares the solids and groups of two scenes.
private struct SceneComparison {
    private let old: SceneParts
    private let new: SceneParts
    private let isInPlace: Bool
    /// So many parts at the beginning are equal.
    private let same: Int
    private let matching: PartMatching

    init(_ old: Scene, _ new: Scene, inPlace: Bool) {
        let (oldParts, newParts) = (SceneParts(old), SceneParts(new))
        self.old = oldParts
        self.new = newParts
        isInPlace = inPlace && oldParts.count == newParts.count
        // An edit leaves most parts as they were, and a script compares all of them after each line.
        let same = oldParts.countEqual(newParts)
        self.same = same
        let last = isInPlace ? 0 : oldParts.countEqualAtEnd(newParts, after: same)
        matching =
            isInPlace
            ? PartMatching(inPlace: newParts.count)
            : PartMatching(
                oldParts.entries[same...].dropLast(last).map { $0.node.alone },
                newParts.entries[same...].dropLast(last).map { $0.node.alone }, after: same,
                before: last,
                identity: { $0.name.isEmpty ? nil : "\($0.isGroup) \($0.name)" }, kind: \.isGroup)
    }

    var changes: [Change] {
        let went = old.entries.indices[same...].filter { matching.newOfOld[$0] == nil }.map {
            Change(
                .part, old.index.path(of: $0), before: old.entries[$0].node.words, after: nil)
        }
        let moved = moved
        return went
            + new.entries.indices[same...].flatMap { changes(of: $0, isMoved: moved.contains($0)) }
    }

    private func changes(of index: Int, isMoved: Bool) -> [Change] {
        let entry = new.entries[index]
        if let former = matching.oldOfNew[index], !isMoved, old.entries[former].node == entry.node {
            return []
        }
        let path = new.index.path(of: index)
        guard let former = matching.oldOfNew[index] else {
            var words = entry.node.longWords
            if let parent = entry.parent { words += ", in \(new.index.path(of: parent))" }
            return [Change(.part, path, before: nil, after: words)]
        }
        let before = old.entries[former]
        var changes: [Change] = []
        if isMoved {
            changes.append(
                Change(
                    .place, path, before: old.placeWords(former), after: new.placeWords(index)))
        }
        // What is renamed is found under its former name by whoever reads of it.
        func key(_ key: String) -> String {
            "\(key == "name" ? old.index.path(of: former) : path).\(key)"
        }
        return changes + before.node.changes(to: entry.node, at: key)
    }

    /// The new parts that are in another group or in another place among their neighbours.
    private var moved: Set<Int> {
        var moved: Set<Int> = []
        if isInPlace { return moved }
        var rows: [Int: [(new: Int, old: Int)]] = [:]
        for index in new.entries.indices[same...] {
            let entry = new.entries[index]
            guard let former = matching.oldOfNew[index] else { continue }
            let isThere =
                switch (entry.parent, old.entries[former].parent) {
                case (nil, nil): true
                case (let new?, let old?): matching.oldOfNew[new] == old
                default: false
                }
            if isThere {
                rows[entry.parent ?? -1, default: []].append((index, former))
            } else {
                moved.insert(index)
            }
        }
        return rows.values.reduce(into: moved) { $0.formUnion(PartMatching.moved($1)) }
    }
}

extension SceneParts {
    /// How many parts at the beginning are equal, and in the same groups, in both.
    fileprivate func countEqual(_ other: SceneParts) -> Int {
        let count = min(entries.count, other.entries.count)
        return (0..<count).first {
            entries[$0].parent != other.entries[$0].parent
                || entries[$0].node != other.entries[$0].node
        } ?? count
    }

    /// How many parts at the end are equal in both, of those after so many at the beginning.
    fileprivate func countEqualAtEnd(_ other: SceneParts, after same: Int) -> Int {
        let (end, otherEnd) = (entries.count, other.entries.count)
        let count = min(end, otherEnd) - same
        return (0..<count).first {
            entries[end - 1 - $0].node != other.entries[otherEnd - 1 - $0].node
        } ?? count
    }

    /// Where a part is, in words.
    fileprivate func placeWords(_ index: Int) -> String {
        let entry = entries[index]
        let place = "place \(entry.number + 1)"
        return entry.parent.map { "\(place) in \(self.index.path(of: $0))" } ?? place
    }
}

extension SceneNode {
    /// What is different in another one, but for what is in it.
    func changes(to other: SceneNode, at path: (String) -> String) -> [Change] {
        var changes: [Change] = []
        switch (self, other) {
        case (.solid(let one), .solid(let other)): changes = one.changes(to: other, at: path)
        case (.group(let one), .group(let other)): changes = one.changes(to: other, at: path)
        default: break
        }
        // Most edits leave them as they are.
        if source == other.source { return changes }
        let known = SceneKeys.of(self).union(SceneKeys.of(other))
        return changes + UnknownKeys.changes(source, other.source, known: known, at: path)
    }

    /// It without what is in it.
    fileprivate var alone: SceneNode {
        var node = self
        node.children = []
        return node
    }

    /// The object it was read from.
    fileprivate var source: JSONObject {
        switch self {
        case .solid(let solid): solid.source
        case .group(let group): group.source
        }
    }
}
