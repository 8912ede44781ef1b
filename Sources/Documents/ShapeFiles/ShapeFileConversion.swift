import Glibc
internal import PathText

/// Something that another format cannot hold.
public struct ConversionLoss: Hashable, Sendable, CustomStringConvertible {
    /// What is lost, as a path in the document converted.
    public let path: String
    /// Why.
    public let reason: String

    /// `path: reason`
    public var description: String { "\(path): \(reason)" }
}

extension Scene {
    /// The scene of a `.shapeFile` document, which `ShapeFile.converted(from:)` makes the same
    /// document of again. Its solid is called after its kind. What nobody here knows of it is carried
    /// along (`SceneKey.shapeFile`).
    public static func converted(from file: ShapeFile) -> (scene: Scene, losses: [ConversionLoss]) {
        let solid = Solid(name: file.kind.standardName, shape: SolidShape(file.kind))
        var scene = Scene(camera: Camera(file.camera), nodes: [.solid(solid)])
        var losses: [ConversionLoss] = []
        if let lost = file.unreadableCamera {
            losses.append(
                ConversionLoss(
                    path: lost.path, reason: "\(lost.typeName) that cannot be read as a camera"))
        }
        guard file.holdsUnknown else { return (scene, losses) }
        do throws(DocumentError) {
            scene.carry(try PropertyList.dictionary(file.source).binary())
            return (scene, losses)
        } catch {
            let lost = file.source.map(\.key).filter { !ShapeFile.knownKeys.contains($0) }
            return (
                scene, losses + lost.map { ConversionLoss(path: $0, reason: error.reason) }
            )
        }
    }
}

extension Camera {
    /// The camera of a `.shapeFile` document as scenes have it.
    public init(_ state: CameraState) {
        let (position, axis) = (state.position, state.axis)
        self.init(
            position: Vector3(Double(position.x), Double(position.y), Double(position.z)),
            orientation: .rotation(
                Rotation(
                    axis: Vector3(Double(axis.x), Double(axis.y), Double(axis.z)),
                    degrees: Double(state.angle) * 180 / .pi)))
    }
}

extension Scene {
    /// Notes the property list it was made of, behind what says the same in its own way.
    fileprivate mutating func carry(_ list: [UInt8]) {
        source[SceneKey.version] = .integer(version)
        if camera != Camera() { source[SceneKey.camera] = .null }
        source[SceneKey.nodes] = .array([])
        source[SceneKey.shapeFile] = .string(Base64.encode(list))
    }

    /// The entries of the property list it was made of; nil if it carries none that can be read.
    fileprivate var carriedEntries: [PropertyList.Entry]? {
        guard let text = source[SceneKey.shapeFile]?.string, let bytes = Base64.decode(text.utf8),
            case .dictionary(let entries) = try? PropertyList.read(bytes)
        else { return nil }
        return entries
    }
}

extension ShapeFile {
    /// The `.shapeFile` document of the first solid of a scene and its camera, and all that such a
    /// document cannot hold. Nothing is lost of a scene with one solid of the original's
    /// dimensions at the origin. An error if there is no solid, or a number is beyond 32-bit reals.
    public static func converted(
        from scene: Scene
    ) throws(DocumentError) -> (file: ShapeFile, losses: [ConversionLoss]) {
        guard let solid = firstSolid(of: scene.nodes) else {
            throw DocumentError(.notRepresentable, at: .path("nodes"), "the scene has no solid")
        }
        // As edits say it, who number the solids in the order they are looked through here.
        let path = "solid.1"
        var file = ShapeFile(kind: solid.shape.kind)
        file.camera = try CameraState(scene.camera)
        var losses: [ConversionLoss] = []
        func lose(_ path: String, _ reason: String, if isLost: Bool) {
            if isLost { losses.append(ConversionLoss(path: path, reason: reason)) }
        }
        if let carried = scene.carriedEntries {
            file.source = carried
            for loss in file.lossesInWriting {
                lose(loss.path, "\(loss.typeName) that is not kept with another camera", if: true)
            }
        } else {
            lose(
                SceneKey.shapeFile, "not a property list as a .shapeFile has it",
                if: scene.source[SceneKey.shapeFile] != nil)
        }
        lose("title", "a .shapeFile has none", if: scene.title != nil)
        lose("background", "in a .shapeFile that of the solid", if: scene.background != nil)
        lose(
            "camera.fieldOfView", "in a .shapeFile always \(Camera.standardFieldOfView)",
            if: scene.camera.fieldOfView != Camera.standardFieldOfView)
        lose("nodes", "a .shapeFile holds one solid", if: scene.nodes != [.solid(solid)])
        // A usual name says nothing that the kind does not, and comes back with it.
        let isUsual = SolidKind.allCases.contains { $0.standardName.isExactly(solid.name) }
        lose("\(path).name", "a .shapeFile has none", if: !solid.name.isEmpty && !isUsual)
        lose(
            "\(path).\(SceneKey.type)", "in a .shapeFile of the original's dimensions",
            if: solid.shape != SolidShape(solid.shape.kind))
        lose(
            "\(path)", "in a .shapeFile at the origin, not turned or scaled",
            if: !solid.transform.isIdentity)
        lose(
            "\(path).color", "in a .shapeFile that of the kind of solid",
            if: solid.effectiveColor != solid.shape.kind.standardColor)
        lose("\(path).opacity", "in a .shapeFile always 1", if: solid.opacity != 1)
        lose("\(path).visible", "in a .shapeFile always true", if: !solid.isVisible)
        return (file, losses)
    }

    static let knownKeys: Set = ["shape", "cameraState"]

    private static func firstSolid(of nodes: [SceneNode]) -> Solid? {
        for node in nodes {
            switch node {
            case .solid(let solid): return solid
            case .group(let group):
                if let inner = firstSolid(of: group.children) { return inner }
            }
        }
        return nil
    }
}

extension CameraState {
    /// The 32-bit reals of a camera; what it looks at becomes a rotation.
    fileprivate init(_ camera: Camera) throws(DocumentError) {
        let rotation =
            switch camera.orientation {
            case .rotation(let rotation): rotation
            case .target(let target): Rotation(from: camera.position, to: target)
            }
        let (position, axis) = (camera.position, rotation.axis)
        self.init(
            position: SIMD3(Float(position.x), Float(position.y), Float(position.z)),
            axis: SIMD3(Float(axis.x), Float(axis.y), Float(axis.z)),
            angle: Float(rotation.degrees * .pi / 180))
        let parts = [self.position.x, self.position.y, self.position.z, self.axis.x, self.axis.y]
        guard (parts + [self.axis.z, angle]).allSatisfy(\.isFinite) else {
            throw DocumentError(
                .notRepresentable, at: .path("camera"), "a number is beyond 32-bit reals")
        }
    }
}

extension Rotation {
    /// The rotation of a camera that looks from one point to another with y up as far as that can
    /// be; none if the points are the same.
    public init(from position: Vector3, to target: Vector3) {
        let back = Vector3(position.x - target.x, position.y - target.y, position.z - target.z)
        let distance = (back.x * back.x + back.y * back.y + back.z * back.z).squareRoot()
        // Yaw about y, then pitch about the camera's own x axis, as quaternions of half angles.
        let level = (back.x * back.x + back.z * back.z).squareRoot()
        guard distance > 0, distance.isFinite else {
            self = .none
            return
        }
        let yaw = (level > 0 ? atan2(back.x, back.z) : 0) / 2
        let pitch = -atan2(back.y, level) / 2
        let w = cos(yaw) * cos(pitch)
        let part = Vector3(
            cos(yaw) * sin(pitch), sin(yaw) * cos(pitch), -sin(yaw) * sin(pitch))
        let length = (part.x * part.x + part.y * part.y + part.z * part.z).squareRoot()
        guard length > 0 else {
            self = .none
            return
        }
        self.init(
            axis: Vector3(part.x / length, part.y / length, part.z / length),
            degrees: 2 * atan2(length, w) * 180 / .pi)
    }
}
