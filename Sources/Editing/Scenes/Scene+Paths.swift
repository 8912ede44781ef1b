import Documents

extension Scene {
    /// What a path leads to, and the key there.
    private enum Place {
        case document(String)
        case camera(String)
        case node([Int], String)
    }

    /// - Parameter parts: those of the scene as it is.
    private func place(_ path: String, _ parts: SceneParts) throws(EditError) -> Place {
        if let place = try find(path, parts) { return place }
        let names = parts.entries.indices.map { parts.index.path(of: $0) }
        throw EditError(
            .notFound, at: path,
            NearNames.unknown(
                "path", String(path.prefix { $0 != "." }),
                among: ["camera"] + fields.map(\.key) + names))
    }

    /// `nil` if the path leads nowhere.
    ///
    /// - Parameter parts: those of the scene as it is.
    private func find(_ path: String, _ parts: SceneParts) throws(EditError) -> Place? {
        let head = path.prefix { $0 != "." }.lowercased()
        if head == "camera" { return .camera(String(path.dropFirst(7))) }
        if fields.contains(where: { $0.isCalled(head) }) { return .document(path) }
        guard let (index, key) = try parts.index.split(path) else { return nil }
        return .node(parts.path(of: index), key)
    }

    func values(at paths: [String]) throws(EditError) -> [FieldValue] {
        let parts = SceneParts(self)
        return try paths.map { (path) throws(EditError) in
            try located(path) { () throws(EditError) in try value(at: try place(path, parts)) }
        }
    }

    private func value(at place: Place) throws(EditError) -> FieldValue {
        switch place {
        case .document(let key): return try value(of: key)
        case .camera(let key): return try camera.value(of: key)
        case .node(let address, let key):
            switch nodes[at: address] {
            case .solid(let solid): return try solid.value(of: key)
            case .group(let group): return try group.value(of: key)
            }
        }
    }

    /// Sets the values at paths; nil takes one away. The paths mean what they mean before all of it; one
    /// that leads nowhere then may lead to what was renamed or became of another kind.
    mutating func set(_ values: [(path: String, value: String?)]) throws(EditError) {
        let before = self
        let parts = SceneParts(self)
        for (path, value) in values {
            try located(path) { () throws(EditError) in
                let former = try? before.find(path, parts)
                let place = if let former { former } else { try self.place(path, SceneParts(self)) }
                try set(at: place, to: value)
            }
        }
    }

    private mutating func set(at place: Place, to text: String?) throws(EditError) {
        switch place {
        case .document(let key): try set(key, to: text)
        case .camera(let key):
            try camera.set(key, to: text)
            if text == nil { camera.source[try camera.field(key).field.key] = nil }
        case .node(let address, let key): try setNode(address, key, to: text)
        }
    }

    private mutating func setNode(
        _ address: [Int], _ key: String, to text: String?
    ) throws(EditError) {
        let old = nodes[at: address]
        var node = old
        try node.set(key, to: text)
        if node.name != old.name { try checkIsFree(node.name) }
        nodes[at: address] = node
    }

    /// An error if something is called so already.
    func checkIsFree(_ name: String) throws(EditError) {
        guard !name.isEmpty, nodes.contains(where: { $0.holds(name) }) else { return }
        let free = NodeName.free(name, among: SceneParts(self).names)
        throw EditError(.data, "there is already a '\(name)'; free is '\(free)'")
    }

    var paths: [(path: String, value: FieldValue)] {
        let parts = SceneParts(self)
        var paths = listing.map { (path: $0.key, value: $0.value) }
        paths += camera.listing.map { (path: "camera.\($0.key)", value: $0.value) }
        for (index, entry) in parts.entries.enumerated() {
            let head = parts.index.path(of: index)
            paths += entry.node.listing.map { (path: "\(head).\($0.key)", value: $0.value) }
        }
        return paths
    }
}

extension SceneNode {
    /// Sets the value of a key; nil takes it away, and the key out of the file: the usual value is that
    /// of a file without it.
    mutating func set(_ key: String, to text: String?) throws(EditError) {
        switch self {
        case .solid(var solid):
            try solid.set(key, to: text)
            if text == nil { solid.source[try solid.field(key).field.key] = nil }
            self = .solid(solid)
        case .group(var group):
            try group.set(key, to: text)
            if text == nil { group.source[try group.field(key).field.key] = nil }
            self = .group(group)
        }
    }

    /// The keys that have a value, with it.
    var listing: [(key: String, value: FieldValue)] {
        switch self {
        case .solid(let solid): solid.listing
        case .group(let group): group.listing
        }
    }
}
