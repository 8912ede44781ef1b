import Documents

extension Scene {
    /// Does what a verb says with the words after it.
    mutating func perform(_ verb: String, _ words: inout Arguments) throws(EditError) {
        switch verb {
        case "set": try set(try words.assignments().map { ($0.path, $0.value) })
        case "unset": try set(try words.paths().map { ($0, nil) })
        case "add": try add(&words)
        case "remove": try remove(&words)
        case "rename": try rename(&words)
        case "move": try move(&words)
        case "rotate": try rotate(&words)
        case "scale": try scale(&words)
        case "color": try color(&words)
        case "duplicate": try duplicate(&words)
        case "order": try order(&words)
        case "group": try group(&words)
        case "ungroup": try ungroup(&words)
        case "camera": try moveCamera(&words)
        case "background", "title":
            let text = try words.next(verb == "title" ? "TEXT" : "COLOR")
            try words.end()
            try set([(verb, text)])
        default: throw words.misuse("not for scenes")
        }
    }

    private mutating func add(_ words: inout Arguments) throws(EditError) {
        let kindName = try EditableDocument.kind(try words.next("KIND"), for: .shape)
        let names = SceneParts(self).names
        let (name, pairs) = try words.nameAndPairs()
        if let name { try located(name) { () throws(EditError) in try checkIsFree(name) } }
        let standard = NodeName.free(Scene.standardName(kindName), among: names)
        let chosen = try located("add") { () throws(EditError) in
            try NodeName.checked(name ?? standard)
        }
        var node: SceneNode =
            if let kind = SolidKind(name: kindName) {
                .solid(Solid(name: chosen, shape: SolidShape(kind)))
            } else {
                .group(Group(name: chosen))
            }
        for pair in pairs {
            try located(pair.key) { () throws(EditError) in
                try node.set(pair.key, to: pair.value)
            }
        }
        if node.name != chosen { try checkIsFree(node.name) }
        nodes.append(node)
        try checkSize()
    }

    /// An error if there are more nodes than a scene can hold, or more groups in groups: found at
    /// once, as few edits can make very many.
    func checkSize() throws(EditError) {
        let sizes = nodes.map(\.size)
        guard sizes.reduce(0, { $0 + $1.count }) <= Limits.sceneNodes else {
            throw EditError(
                .outOfRange, at: "nodes", "more than \(Limits.sceneNodes) solids and groups")
        }
        guard sizes.allSatisfy({ $0.depth <= Limits.sceneDepth + 1 }) else {
            throw EditError(
                .outOfRange, at: "nodes", "more than \(Limits.sceneDepth) groups in groups")
        }
    }

    private mutating func remove(_ words: inout Arguments) throws(EditError) {
        let paths = try SceneParts(self).outermost(try words.targets())
        try words.end()
        // From the last to the first, so that the places of those to come stay the same.
        for path in paths.reversed() {
            let last = path[path.count - 1]
            _ = nodes.changeSiblings(of: path) { $0.remove(at: last) }
        }
    }

    private mutating func rename(_ words: inout Arguments) throws(EditError) {
        let name = EscapedText.unescaped(try words.last("NAME"))
        let parts = SceneParts(self)
        let path = parts.path(of: try parts.findOne(try words.target()))
        try words.end()
        let former = nodes[at: path].name
        guard !former.isExactly(name) else { return }
        try located(name) { () throws(EditError) in
            // The same name otherwise composed is its own.
            if name != former { try checkIsFree(name) }
            nodes[at: path].name = try NodeName.checked(name)
        }
    }

    private mutating func duplicate(_ words: inout Arguments) throws(EditError) {
        let parts = SceneParts(self)
        let path = parts.path(of: try parts.findOne(try words.target()))
        let name = words.isEmpty ? nil : EscapedText.unescaped(try words.next("NAME"))
        try words.end()
        var taken = parts.names
        if let name {
            try located(name) { () throws(EditError) in
                try checkIsFree(name)
                taken.insert(try NodeName.checked(name))
            }
        }
        var names = FreeNames(taken: taken)
        var copy = nodes[at: path].renamed { names.take($0) }
        if let name { copy.name = name }
        let last = path[path.count - 1]
        nodes.changeSiblings(of: path) { $0.insert(copy, at: last + 1) }
        try checkSize()
    }

    private mutating func order(_ words: inout Arguments) throws(EditError) {
        let place = try words.last("front, back, forward, backward or a number")
        let parts = SceneParts(self)
        let path = parts.path(of: try parts.findOne(try words.target()))
        try words.end()
        let last = path[path.count - 1]
        let count = nodes.changeSiblings(of: path) { $0.count }
        let new = try Order.place(place, of: last, among: count)
        nodes.changeSiblings(of: path) { $0.insert($0.remove(at: last), at: new) }
    }
}
