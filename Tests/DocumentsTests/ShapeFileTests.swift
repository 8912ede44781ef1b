import DocumentFuzzing
import Documents
import Testing

/// Shape files in and out, and as scenes.
@Suite struct ShapeFileTests {
    @Test func `the camera of another writer is read and stays byte for byte`() throws {
        let file = try ShapeFile.read(try Samples.read("torus.shapeFile"))
        #expect(file.kind == .torus)
        #expect(file.cameraProblem == nil)
        #expect(
            file.camera
                == CameraState(position: SIMD3(0, 0, 5), axis: SIMD3(0, 1, 0), angle: 0.5))
        let again = try PropertyList.read(file.binary())
        #expect(again == (try PropertyList.read(try Samples.read("torus.shapeFile"))))
        #expect(again["note"] == .string("kept"))
    }

    @Test func `a changed camera is archived anew`() throws {
        var file = try ShapeFile.read(try Samples.read("torus.shapeFile"))
        file.camera.angle = 1
        file.kind = .cone
        let again = try ShapeFile.read(file.binary())
        #expect(again.camera == file.camera)
        #expect(again.kind == .cone)
        #expect(again.source.map(\.key) == ["shape", "cameraState", "note"])
    }

    @Test func `unknown values of an archived camera stay when it changes, or are told`() throws {
        var file = try ShapeFile.read(try Samples.read("camera-unknown.shapeFile"))
        #expect(file.cameraProblem == nil)
        #expect(file.cameraLosses.map(\.path) == ["archive.$top.o", "camera.list"])
        file.camera.angle = 1
        let again = try ShapeFile.read(file.binary())
        #expect(again.camera == file.camera)
        #expect(again.cameraLosses.isEmpty)
        guard case .data(let archive) = PropertyList.dictionary(again.source)["cameraState"],
            case .array(let objects) = try PropertyList.read(archive)["$objects"]
        else {
            Issue.record("no archived camera")
            return
        }
        #expect(objects[1]["fov"] == .real(60))
        #expect(objects.contains(.string("hi")))
    }

    @Test func `a large object that very many entries of a camera refer to takes no time`() throws {
        let count = 10_000
        func record(_ name: String) -> PropertyList {
            .dictionary([
                PropertyList.Entry("$classname", .string(name)),
                PropertyList.Entry("$classes", .array([.string(name), .string("NSObject")])),
            ])
        }
        let camera = (0..<count).map { PropertyList.Entry("r\($0)", .uid(4)) }
        let large = (0..<count).map { PropertyList.Entry("k\($0)", .boolean(true)) }
        let objects: [PropertyList] = [
            .string("$null"), .dictionary(camera + [PropertyList.Entry("$class", .uid(2))]),
            record("ShapeEdit.CameraState"), record("Other"),
            .dictionary(large + [PropertyList.Entry("$class", .uid(3))]),
        ]
        let archive = PropertyList.dictionary([
            PropertyList.Entry("$version", .integer(100_000)),
            PropertyList.Entry("$objects", .array(objects)),
            PropertyList.Entry("$archiver", .string("NSKeyedArchiver")),
            PropertyList.Entry("$top", .dictionary([PropertyList.Entry("root", .uid(1))])),
        ])
        let list = PropertyList.dictionary([
            PropertyList.Entry("shape", .integer(1)),
            PropertyList.Entry("cameraState", .data(try archive.binary())),
        ])
        let bytes = try list.binary()
        let start = ContinuousClock.now
        let file = try ShapeFile.read(bytes)
        #expect(file.cameraProblem == nil)
        // A look at the object for each entry takes 20 times as long, even when nothing is checked.
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(file.cameraLosses.count == Limits.listedRepairs)
    }

    @Test(arguments: ["no-camera.shapeFile", "wrong-class.shapeFile"])
    func `a camera that does not decode is the standard one`(name: String) throws {
        let file = try ShapeFile.read(try Samples.read(name))
        #expect(file.cameraProblem != nil)
        #expect(file.camera == CameraState())
        let again = try ShapeFile.read(file.binary())
        #expect(again.cameraProblem == nil)
        #expect(again.camera == CameraState())
    }

    @Test(arguments: [
        ("nan", DocumentError.Kind.badValue), ("no-shape", .missing), ("shape-6", .badValue),
        ("real-shape", .wrongType), ("openstep", .otherFormat), ("entity", .malformed),
    ])
    func `what the format does not allow is refused`(
        name: String, kind: DocumentError.Kind
    ) throws {
        let bytes = try Samples.read("\(name).shapeFile")
        let error = #expect(throws: DocumentError.self) { try ShapeFile.read(bytes) }
        #expect(error?.kind == kind, "\(String(describing: error))")
    }

    @Test(.enabled(if: Samples.hasOriginals, Samples.withoutOriginals))
    func `the template of the original app is read`() throws {
        let file = try ShapeFile.read(try Samples.original("Template.shapeFile"))
        #expect(file.kind == .cylinder)
        #expect(file.cameraProblem?.kind == .missing)
        #expect(try ShapeFile.read(file.binary()).camera == CameraState())
    }

    @Test func `a scene is made of any shape file and back without loss`() throws {
        var generator = DocumentGenerator(SeededGenerator(seed: 21))
        for _ in 0..<2_000 {
            let file = generator.shapeFile()
            let scene = try Scene.read(Scene.converted(from: file).scene.text())
            let (again, losses) = try ShapeFile.converted(from: scene)
            #expect(losses.isEmpty)
            #expect(again == file)
        }
    }

    @Test func `what nobody knows in a shape file goes along in the scene and comes back`() throws {
        var file = try ShapeFile.read(try Samples.read("camera-unknown.shapeFile"))
        file = try ShapeFile.read(
            PropertyList.dictionary(
                [PropertyList.Entry("zeta", .string("first"))] + file.source
                    + [
                        PropertyList.Entry("when", .date(1.5)),
                        PropertyList.Entry("n", .integer(1 << 60)),
                    ]
            ).binary())
        let (made, none) = Scene.converted(from: file)
        #expect(none.isEmpty)
        var scene = try Scene.read(made.text())
        #expect(try ShapeFile.converted(from: scene).losses.isEmpty)
        #expect(try ShapeFile.converted(from: scene).file.binary() == file.binary())
        // What is known counts where it says something else by then.
        scene.camera.position = Vector3(1, 2, 3)
        scene.nodes = [.solid(Solid(shape: SolidShape(.torus)))]
        let (again, losses) = try ShapeFile.converted(from: scene)
        #expect(losses.map(\.path) == file.cameraLosses.map(\.path) && !losses.isEmpty)
        let read = try ShapeFile.read(again.binary())
        #expect(read.kind == .torus && read.camera.position == SIMD3(1, 2, 3))
        #expect(read.source.map(\.key) == file.source.map(\.key))
        #expect(read.source.first == file.source.first)
        // Without any of it nothing is carried.
        let plain = Scene.converted(from: ShapeFile(kind: .cone)).scene
        #expect(plain.json.object?.keys == ["version", "nodes"])
        scene.source["shapeFile"] = .string("AAAA")
        #expect(try ShapeFile.converted(from: scene).losses.map(\.path) == ["shapeFile"])
    }

    @Test func `the class of the camera is the app's, whatever is changed and by way of a scene`()
        throws
    {
        func className(_ bytes: [UInt8]) throws -> String? {
            guard case .data(let camera) = try PropertyList.read(bytes)["cameraState"],
                case .array(let objects) = try PropertyList.read(camera)["$objects"],
                case .string(let name) = objects.last?["$classname"]
            else { return nil }
            return name
        }
        let bytes = ShapeFileTests.file(cameraClass: "_TtC5Other11CameraState")
        var file = try ShapeFile.read(bytes)
        #expect(file.camera.position == SIMD3(1, 2, 3))
        let (made, none) = Scene.converted(from: file)
        #expect(none.isEmpty)
        var scene = try Scene.read(made.text())
        #expect(try ShapeFile.converted(from: scene).file.binary() == file.binary())
        file.camera.position.x = 7
        #expect(try className(file.binary()) == "_TtC5Other11CameraState")
        scene.camera.position.x = 7
        let (again, losses) = try ShapeFile.converted(from: scene)
        #expect(losses.isEmpty)
        #expect(try again.binary() == file.binary())
    }

    /// A shape file whose camera is of a class, at 1, 2, 3.
    private static func file(cameraClass: String) -> [UInt8] {
        let numbers: [(String, Float)] = [("x", 1), ("y", 2), ("z", 3)]
        let camera = PropertyList.dictionary(
            numbers.map { PropertyList.Entry($0.0, .real32($0.1)) }
                + [PropertyList.Entry("$class", .uid(2))])
        let record = PropertyList.dictionary([
            PropertyList.Entry("$classname", .string(cameraClass)),
            PropertyList.Entry("$classes", .array([.string(cameraClass), .string("NSObject")])),
        ])
        let archive = PropertyList.dictionary([
            PropertyList.Entry("$version", .integer(100_000)),
            PropertyList.Entry("$objects", .array([.string("$null"), camera, record])),
            PropertyList.Entry("$archiver", .string("NSKeyedArchiver")),
            PropertyList.Entry("$top", .dictionary([PropertyList.Entry("root", .uid(1))])),
        ])
        let bytes = (try? archive.binary()) ?? []
        let list = PropertyList.dictionary([
            PropertyList.Entry("shape", .integer(4)),
            PropertyList.Entry("cameraState", .data(bytes)),
        ])
        return (try? list.binary()) ?? []
    }

    @Test func `what a shape file cannot hold is said`() throws {
        let scene = try Scene.read(try Samples.read("three.shape"))
        let (file, losses) = try ShapeFile.converted(from: scene)
        #expect(file.kind == .sphere)
        #expect(
            losses.map(\.path) == [
                "title", "background", "nodes", "solid.1.name", "solid.1.type", "solid.1",
            ])
        let error = #expect(throws: DocumentError.self) { try ShapeFile.converted(from: Scene()) }
        #expect(error?.kind == .notRepresentable)
    }

    @Test(arguments: [
        (Vector3(0, 0, 4), Vector3.zero), (Vector3(4, 0, 0), .zero), (Vector3(0, 0, -4), .zero),
        (Vector3(0, 5, 0), .zero), (Vector3(0, -5, 0), .zero),
        (Vector3(1, 2, 3), Vector3(-4, 5, -6)),
    ])
    func `a target becomes the rotation that looks at it`(from: Vector3, to: Vector3) {
        let rotation = Rotation(from: from, to: to)
        let looked = rotated(Vector3(0, 0, -1), by: rotation)
        let way = Vector3(to.x - from.x, to.y - from.y, to.z - from.z)
        let length = (way.x * way.x + way.y * way.y + way.z * way.z).squareRoot()
        #expect(abs(looked.x - way.x / length) < 1e-12)
        #expect(abs(looked.y - way.y / length) < 1e-12)
        #expect(abs(looked.z - way.z / length) < 1e-12)
        // Nothing tilts to the side.
        #expect(abs(rotated(Vector3(1, 0, 0), by: rotation).y) < 1e-12)
    }

    /// Rodrigues' formula with the sine and cosine of series, which need no library.
    private func rotated(_ v: Vector3, by rotation: Rotation) -> Vector3 {
        let angle = rotation.degrees * .pi / 180
        var (sine, cosine, term) = (0.0, 0.0, 1.0)
        for step in 0..<60 {
            let sign = step % 4 < 2 ? 1.0 : -1.0
            if step % 2 == 0 { cosine += sign * term } else { sine += sign * term }
            term *= angle / Double(step + 1)
        }
        let k = rotation.axis
        let dot = (k.x * v.x + k.y * v.y + k.z * v.z) * (1 - cosine)
        return Vector3(
            v.x * cosine + (k.y * v.z - k.z * v.y) * sine + k.x * dot,
            v.y * cosine + (k.z * v.x - k.x * v.z) * sine + k.y * dot,
            v.z * cosine + (k.x * v.y - k.y * v.x) * sine + k.z * dot)
    }
}
