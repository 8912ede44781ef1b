import Documents

extension Scene {
    mutating func group(_ words: inout Arguments) throws(EditError) {
        let name = EscapedText.unescaped(try words.next("NAME"))
        let parts = SceneParts(self)
        let paths = try parts.outermost(try words.targets())
        try words.end()
        try located(name) { () throws(EditError) in
            try checkIsFree(name)
            _ = try NodeName.checked(name)
        }
        let first = paths[0]
        let around = first.dropLast()
        guard paths.allSatisfy({ $0.dropLast() == around }) else {
            throw EditError(
                .data, at: "group", "the parts are in different groups; ungroup those first")
        }
        let members = Set(paths.map { $0[$0.count - 1] })
        nodes.changeSiblings(of: first) { siblings in
            let children = members.sorted().map { siblings[$0] }
            let place = first[first.count - 1]
            siblings = siblings.indices.filter { !members.contains($0) }.map { siblings[$0] }
            siblings.insert(.group(Group(name: name, children: children)), at: place)
        }
        try checkSize()
    }

    mutating func ungroup(_ words: inout Arguments) throws(EditError) {
        let parts = SceneParts(self)
        let index = try parts.findOne(try words.target())
        try words.end()
        let entry = parts.entries[index]
        guard case .group(let group) = entry.node else {
            throw EditError(.data, at: parts.index.path(of: index), "not a group")
        }
        var children: [SceneNode] = []
        for child in group.children {
            var child = child
            guard let transform = child.transform.within(group.transform) else {
                throw EditError(
                    .data, at: parts.index.path(of: index),
                    "it is stretched more in one direction than in another, which what is turned "
                        + "in it cannot be alone; scale it to=1 first")
            }
            child.transform = transform
            if !group.isVisible { child.isVisible = false }
            children.append(child)
        }
        nodes.changeSiblings(of: parts.path(of: index)) {
            $0.replaceSubrange(entry.number...entry.number, with: children)
        }
    }

    /// Where the origin of a node is in the scene.
    func origin(of path: [Int]) -> Vector3 {
        var point = Vector3.zero
        for length in stride(from: path.count, to: 0, by: -1) {
            point = nodes[at: Array(path.prefix(length))].transform(point)
        }
        return point.tidy
    }
}

extension Transform {
    /// A point of what is transformed.
    func callAsFunction(_ point: Vector3) -> Vector3 {
        Turn(rotation)(point * scale) + position
    }

    /// The transform that does the same outside of a group; nil if there is none.
    func within(_ group: Transform) -> Transform? {
        if group.isIdentity { return self }
        let isUniform = group.scale.x == group.scale.y && group.scale.y == group.scale.z
        guard isUniform || rotation.isNone else { return nil }
        var turned = rotation
        turned.turn(by: group.rotation)
        return Transform(
            position: group(position).tidy, rotation: turned, scale: scale * group.scale)
    }
}
