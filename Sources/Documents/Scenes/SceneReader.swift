extension Scene {
    /// Reads a `.shape` document.
    public static func read(_ bytes: [UInt8]) throws(DocumentError) -> Scene {
        try repaired(bytes).scene
    }

    /// Reads a `.shape` document and lists what had to be repaired: a byte order mark, which editors put
    /// there unasked, and UTF-16, in which some save. All else is a failure.
    public static func repaired(
        _ bytes: [UInt8]
    ) throws(DocumentError) -> (scene: Scene, repairs: [JSONRepair]) {
        let (value, repairs) = try JSONValue.read(bytes, isTolerant: false)
        return (try Scene(value), repairs)
    }

    /// Reads the JSON of a `.shape` document.
    public init(_ json: consuming JSONValue) throws(DocumentError) {
        let typeName = json.typeName
        // Taken over: it would be copied where it is changed, and a root can have very many keys.
        guard case .object(var root) = consume json else {
            throw DocumentError(.otherFormat, "not a scene: \(typeName)")
        }
        let fields = SceneFields(object: root, path: "")
        guard let version = root[SceneKey.version] else {
            throw fields.error(.missing, SceneKey.version, "missing; 1 is expected")
        }
        guard let number = version.integer, number >= 1 else {
            throw fields.error(
                .badValue, SceneKey.version, "a whole number from 1 is expected")
        }
        guard number <= Scene.currentVersion else {
            throw fields.error(
                .unknown, SceneKey.version,
                "made by a newer program: version \(number), known up to \(Scene.currentVersion)")
        }
        self.init()
        self.version = number
        title = try fields.text(SceneKey.title)
        background = try fields.color(SceneKey.background)
        if let camera = root[SceneKey.camera] { self.camera = try Camera(camera) }
        var reader = SceneNodeReader()
        nodes = try reader.nodes(
            try fields.array(SceneKey.nodes), at: SceneKey.nodes, depth: 0)
        root[SceneKey.nodes] = .array([])
        if root[SceneKey.camera] != nil { root[SceneKey.camera] = .null }
        source = root
    }
}

/// The keys of `.shape` documents.
package enum SceneKey {
    static let version = "version"
    static let title = "title"
    static let background = "background"
    static let camera = "camera"
    static let nodes = "nodes"
    static let name = "name"
    static let type = "type"
    static let children = "children"
    static let position = "position"
    static let rotation = "rotation"
    static let scale = "scale"
    static let color = "color"
    static let opacity = "opacity"
    static let visible = "visible"
    static let target = "target"
    static let fieldOfView = "fieldOfView"
    /// The property list of the `.shapeFile` the scene was made of, binary and in Base64, if that had
    /// more than a scene can say.
    package static let shapeFile = "shapeFile"
    /// The `type` of a group; other types are the names of solids.
    static let group = "group"
}

extension Camera {
    fileprivate init(_ json: JSONValue) throws(DocumentError) {
        guard let object = json.object else {
            throw DocumentError(
                .wrongType, at: .path(SceneKey.camera),
                "\(json.typeName) where an object is expected")
        }
        let fields = SceneFields(object: object, path: SceneKey.camera)
        self.init(
            position: try fields.vector(SceneKey.position, default: Camera.standardPosition),
            orientation: try Camera.orientation(fields), fieldOfView: try Camera.angle(fields))
        source = object
    }

    static func orientation(_ fields: SceneFields) throws(DocumentError) -> Orientation {
        guard fields.object[SceneKey.target] != nil else {
            return .rotation(try fields.rotation(SceneKey.rotation))
        }
        guard fields.object[SceneKey.rotation] == nil else {
            throw fields.error(
                .badValue, SceneKey.target, "a camera has either a target or a rotation")
        }
        return .target(try fields.vector(SceneKey.target, default: .zero))
    }

    static func angle(_ fields: SceneFields) throws(DocumentError) -> Double {
        try fields.number(
            SceneKey.fieldOfView, default: Camera.standardFieldOfView,
            "a number of degrees from 1 to 179"
        ) { (1...179).contains($0) }
    }
}

/// Reads nodes, counting them.
struct SceneNodeReader {
    private var count = 0

    mutating func nodes(
        _ values: [JSONValue], at path: String, depth: Int
    ) throws(DocumentError) -> [SceneNode] {
        guard depth <= Limits.sceneDepth else {
            throw DocumentError(
                .tooLarge, at: .path(path), "more than \(Limits.sceneDepth) groups in groups")
        }
        var nodes: [SceneNode] = []
        for (index, value) in values.enumerated() {
            count += 1
            guard count <= Limits.sceneNodes else {
                throw DocumentError(
                    .tooLarge, at: .path(path), "more than \(Limits.sceneNodes) solids and groups")
            }
            nodes.append(try node(value, at: "\(path)[\(index)]", depth: depth))
        }
        return nodes
    }

    private mutating func node(
        _ value: JSONValue, at path: String, depth: Int
    ) throws(DocumentError) -> SceneNode {
        guard let object = value.object else {
            throw DocumentError(
                .wrongType, at: .path(path), "\(value.typeName) where an object is expected")
        }
        let fields = SceneFields(object: object, path: path)
        let type = object[SceneKey.type]?.string
        guard type != SceneKey.group else {
            var group = Group(
                name: try fields.text(SceneKey.name) ?? "", transform: try Transform(fields),
                isVisible: try fields.flag(SceneKey.visible, default: true))
            group.children = try nodes(
                try fields.array(SceneKey.children), at: "\(path).\(SceneKey.children)",
                depth: depth + 1)
            group.source = object
            group.source[SceneKey.children] = .array([])
            return .group(group)
        }
        guard let kind = SolidKind.allCases.first(where: { $0.name == type }) else {
            throw fields.error(
                object[SceneKey.type] == nil ? .missing : .badValue, SceneKey.type,
                "sphere, cube, cylinder, cone, torus, pyramid or group is expected")
        }
        var solid = Solid(
            name: try fields.text(SceneKey.name) ?? "", shape: try SolidShape(kind, fields),
            transform: try Transform(fields), color: try fields.color(SceneKey.color),
            opacity: try Solid.opacity(fields),
            isVisible: try fields.flag(SceneKey.visible, default: true))
        solid.source = object
        return .solid(solid)
    }
}

extension Transform {
    fileprivate init(_ fields: SceneFields) throws(DocumentError) {
        self.init(
            position: try fields.vector(SceneKey.position, default: .zero),
            rotation: try fields.rotation(SceneKey.rotation),
            scale: try fields.scale(SceneKey.scale))
    }
}

extension Solid {
    static func opacity(_ fields: SceneFields) throws(DocumentError) -> Double {
        try fields.number(SceneKey.opacity, default: 1, "a number from 0 to 1") {
            (0...1).contains($0)
        }
    }
}

extension SolidShape {
    fileprivate init(_ kind: SolidKind, _ fields: SceneFields) throws(DocumentError) {
        self.init(kind)
        for dimension in dimensions {
            let value = try SolidShape.length(dimension, fields)
            self = setting(dimension.name, to: value) ?? self
        }
    }

    static func length(
        _ dimension: Dimension, _ fields: SceneFields
    ) throws(DocumentError) -> Double {
        let least = dimension.mayBeZero ? "0 or more" : "more than 0"
        return try fields.number(
            dimension.name, default: dimension.value,
            "a number of \(least), at most \(Limits.sceneNumber)"
        ) { dimension.allows($0) }
    }
}
