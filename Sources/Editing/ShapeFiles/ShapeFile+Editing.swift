import Documents

extension ShapeFile: Fielded {
    var noun: String { "a shape file" }

    var fields: [Field<ShapeFile>] {
        [
            Field(
                "shape", aliases: ["kind", "type"], get: { $0.kind.name },
                set: { file, text throws(EditError) in file.kind = try SolidKind.named(text) })
        ]
    }

    /// The camera as scenes have it.
    private var sceneCamera: Camera { Camera(camera) }

    /// Changes the camera. One that stays the same keeps its exact numbers.
    private mutating func changeCamera(
        _ body: (inout Camera) throws(EditError) -> Void
    ) throws(EditError) {
        var camera = sceneCamera
        try body(&camera)
        guard camera != sceneCamera else { return }
        try camera.checkRanges(after: sceneCamera)
        guard camera.fieldOfView == Camera.standardFieldOfView else {
            throw EditError(
                .data, at: "camera.fieldOfView",
                "in a .shapeFile always \(ValueText.text(Camera.standardFieldOfView)); convert it "
                    + "to a .shape to change it")
        }
        let solid = Solid(shape: SolidShape(kind))
        do throws(DocumentError) {
            let scene = Scene(camera: camera, nodes: [.solid(solid)])
            self.camera = try ShapeFile.converted(from: scene).file.camera
        } catch {
            throw EditError(.outOfRange, at: "camera", error.reason)
        }
    }

    /// The key of the camera that a path means; nil if it means the solid.
    private static func cameraKey(_ path: String) -> String? {
        let head = path.prefix { $0 != "." }
        return head.lowercased() == "camera" ? String(path.dropFirst(7)) : nil
    }

    /// The key of the solid that a path means, as in scenes.
    private static func solidKey(_ path: String) throws(EditError) -> String {
        let words = path.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let isSolid = words[0] == "solid"
        let number = isSolid ? words.dropFirst().first ?? "" : words[0]
        guard number == "1" || !isSolid && Int(number) == nil else {
            throw EditError(.notFound, at: path, "a .shapeFile has one solid, solid.1")
        }
        let start = ["solid.1.", "1."].first { path.lowercased().hasPrefix($0) }
        let key = String(path.dropFirst(start?.count ?? 0))
        let head = key.prefix { $0 != "." }.lowercased()
        let sceneKeys = Solid(shape: .sphere(radius: 1)).fields.map { $0.key.lowercased() }
        if head != "shape", sceneKeys.contains(head) || ["title", "background"].contains(head) {
            throw EditError(
                .data, at: path, "a .shapeFile has no such value; convert it to a .shape to set it")
        }
        return key
    }

    func value(at path: String) throws(EditError) -> FieldValue {
        try located(path) { () throws(EditError) in
            if let key = ShapeFile.cameraKey(path) { return try sceneCamera.value(of: key) }
            return try value(of: try ShapeFile.solidKey(path))
        }
    }

    private mutating func set(at path: String, to text: String?) throws(EditError) {
        do throws(EditError) {
            if let key = ShapeFile.cameraKey(path) {
                try changeCamera { camera throws(EditError) in try camera.set(key, to: text) }
            } else {
                try set(try ShapeFile.solidKey(path), to: text)
            }
        } catch {
            throw error.at(path)
        }
    }

    var paths: [(path: String, value: FieldValue)] {
        listing.map { (path: $0.key, value: $0.value) }
            + sceneCamera.listing.map { (path: "camera.\($0.key)", value: $0.value) }
    }

    /// What it holds, one fact a line.
    var facts: [String] { paths.map { "\($0.path): \($0.value)" } }

    /// What is wrong with it. That the format's usual camera counts where none is given is sound.
    var complaints: [String] {
        guard let cameraProblem, cameraProblem.kind != .missing || hasCamera else { return [] }
        return ["camera: the usual one is used: \(cameraProblem)"]
    }

    private var hasCamera: Bool { source.contains { $0.key == "cameraState" } }

    /// What is worth knowing about it though nothing is wrong.
    var remarks: [String] { cameraLosses.map { $0.words(for: "camera") } }

    /// What is different in another one.
    func changes(to other: ShapeFile) -> [Change] {
        func object(_ entries: [PropertyList.Entry]) -> [PropertyList.Entry] {
            entries.filter { !["shape", "cameraState"].contains($0.key) }
        }
        var changes = changes(to: other) { $0 }
        changes += sceneCamera.changes(to: other.sceneCamera) { "camera.\($0)" }
        return changes + UnknownKeys.changes(object(source), object(other.source)) { $0 }
    }

    /// Does what a verb says with the words after it.
    mutating func perform(_ verb: String, _ words: inout Arguments) throws(EditError) {
        switch verb {
        case "set":
            for (path, value) in try words.assignments() { try set(at: path, to: value) }
        case "unset":
            for path in try words.paths() { try set(at: path, to: nil) }
        default:
            let action = try words.next("orbit, pan, zoom, reset or look-at")
            guard action == "look-at" else {
                return try changeCamera { camera throws(EditError) in
                    try camera.move(action, &words)
                }
            }
            let text = try words.next("X,Y,Z")
            try words.end()
            let point = try located("camera look-at") { () throws(EditError) in
                try ValueText.vector(text)
            }
            try changeCamera { camera in camera.orientation = .target(point) }
        }
    }
}
