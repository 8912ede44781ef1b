extension Scene {
    /// The bytes of the document. With the bytes it was read from, what did not change stays as it
    /// is; see `JSONValue.text(replacing:)`. An error if it could not be read again, because a
    /// value is out of range.
    public func text(replacing original: [UInt8]? = nil) throws(DocumentError) -> [UInt8] {
        let json = json
        _ = try Scene(json)
        return try json.document(replacing: original)
    }

    /// The JSON of the document. Of a new object only what differs from the defaults is in it.
    public var json: JSONValue {
        var update = SceneUpdate(source)
        update.set(SceneKey.version, version, encoded: .integer(version)) { $0.object[$1]?.integer }
        update.set(
            SceneKey.title, Exact(wrappedValue: title), encoded: title.map { .string($0) }
        ) { fields, key throws(DocumentError) in Exact(wrappedValue: try fields.text(key)) }
        update.set(
            SceneKey.background, background, encoded: background.map { .string($0.hexadecimal) }
        ) { fields, key throws(DocumentError) in try fields.color(key) }
        let camera = camera.json
        if !camera.isEmpty || update.object[SceneKey.camera] != nil {
            update.object[SceneKey.camera] = .object(camera)
        }
        update.object[SceneKey.nodes] = .array(nodes.map(\.json))
        return .object(update.object)
    }
}

/// An object of a scene while values are set in it: what it says already is left alone.
private struct SceneUpdate {
    var object: JSONObject

    init(_ source: JSONObject) { object = source }

    /// Sets a key unless reading it, or its default, already gives the value; nil removes it.
    mutating func set<Value: Equatable>(
        _ key: String, _ value: Value, encoded: JSONValue?,
        read: (SceneFields, String) throws(DocumentError) -> Value
    ) {
        do throws(DocumentError) {
            if try read(SceneFields(object: object, path: ""), key) == value { return }
        } catch {
            // What cannot be read is not what it should say.
        }
        object[key] = encoded
    }

    mutating func set(name: String, isVisible: Bool, transform: Transform) {
        set(SceneKey.name, Exact(wrappedValue: name), encoded: .string(name)) {
            fields, key throws(DocumentError) in Exact(wrappedValue: try fields.text(key) ?? "")
        }
        set(SceneKey.position, transform.position, encoded: transform.position.json) {
            fields, key throws(DocumentError) in try fields.vector(key, default: .zero)
        }
        set(SceneKey.rotation, transform.rotation, encoded: transform.rotation.json) {
            fields, key throws(DocumentError) in try fields.rotation(key)
        }
        let scale = transform.scale
        let isUniform = scale.x == scale.y && scale.y == scale.z
        set(SceneKey.scale, scale, encoded: isUniform ? .number(scale.x) : scale.json) {
            fields, key throws(DocumentError) in try fields.scale(key)
        }
        set(SceneKey.visible, isVisible, encoded: .boolean(isVisible)) {
            fields, key throws(DocumentError) in try fields.flag(key, default: true)
        }
    }
}

extension SceneNode {
    fileprivate var json: JSONValue {
        switch self {
        case .solid(let solid): .object(solid.json)
        case .group(let group): .object(group.json)
        }
    }
}

extension Solid {
    fileprivate var json: JSONObject {
        var update = SceneUpdate(source)
        let oldKind = source[SceneKey.type]?.string.flatMap { SolidKind(name: $0) }
        if let oldKind, oldKind != shape.kind {
            // Dimensions of the former kind would mean nothing, or something else.
            for dimension in SolidShape(oldKind).dimensions { update.object[dimension.name] = nil }
        }
        if source.isEmpty, !name.isEmpty { update.object[SceneKey.name] = .string(name) }
        update.object[SceneKey.type] = .string(shape.kind.name)
        for (standard, dimension) in zip(SolidShape(shape.kind).dimensions, shape.dimensions) {
            update.set(dimension.name, dimension.value, encoded: .number(dimension.value)) {
                fields, _ throws(DocumentError) in try SolidShape.length(standard, fields)
            }
        }
        update.set(name: name, isVisible: isVisible, transform: transform)
        update.set(SceneKey.color, color, encoded: color.map { .string($0.hexadecimal) }) {
            fields, key throws(DocumentError) in try fields.color(key)
        }
        update.set(SceneKey.opacity, opacity, encoded: .number(opacity)) {
            fields, _ throws(DocumentError) in try Solid.opacity(fields)
        }
        return update.object
    }
}

extension Group {
    fileprivate var json: JSONObject {
        var update = SceneUpdate(source)
        if source.isEmpty, !name.isEmpty { update.object[SceneKey.name] = .string(name) }
        update.object[SceneKey.type] = .string(SceneKey.group)
        update.set(name: name, isVisible: isVisible, transform: transform)
        update.object[SceneKey.children] = .array(children.map(\.json))
        return update.object
    }
}

extension Camera {
    fileprivate var json: JSONObject {
        var update = SceneUpdate(source)
        update.set(SceneKey.position, position, encoded: position.json) {
            fields, key throws(DocumentError) in
            try fields.vector(key, default: Camera.standardPosition)
        }
        let old = try? Camera.orientation(SceneFields(object: source, path: ""))
        if old != orientation {
            switch orientation {
            case .target(let target):
                update.object[SceneKey.rotation] = nil
                update.object[SceneKey.target] = target.json
            case .rotation(let rotation):
                update.object[SceneKey.target] = nil
                update.object[SceneKey.rotation] = rotation == .none ? nil : rotation.json
            }
        }
        update.set(SceneKey.fieldOfView, fieldOfView, encoded: .number(fieldOfView)) {
            fields, _ throws(DocumentError) in try Camera.angle(fields)
        }
        return update.object
    }
}

extension Vector3 {
    fileprivate var json: JSONValue { .array([.number(x), .number(y), .number(z)]) }
}

extension Rotation {
    fileprivate var json: JSONValue {
        .array([.number(axis.x), .number(axis.y), .number(axis.z), .number(degrees)])
    }
}
