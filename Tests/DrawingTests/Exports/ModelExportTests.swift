import Documents
import Drawing
import Glibc
import Testing

/// Files for other programs, read by a second reader in Python.
@Suite struct ModelExportTests {
    /// Two solids that do not touch: 8 and, turned and stretched, 2 x 1.125 of volume.
    private let scene = Scene(nodes: [
        .solid(
            Solid(
                name: "Box", shape: .cube(width: 2, height: 2, depth: 2, roundedEdge: 0),
                color: .white)),
        .group(
            Group(
                transform: Transform(
                    position: Vector3(5, 1, 0),
                    rotation: Rotation(axis: Vector3(1, 1, 0), degrees: 33)),
                children: [
                    .solid(
                        Solid(
                            name: "Tent & co", shape: SolidShape(.pyramid),
                            transform: Transform(scale: Vector3(1, 2, 1)), opacity: 0.5))
                ])),
    ])

    private static func bytes(_ scene: Scene, _ format: ModelFile.Format) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try ModelFile(scene, as: format).write { bytes += $0 }
        return bytes
    }

    @Test(arguments: ["stl", "obj", "glb"])
    func `a second reader finds closed solids of the right volume`(_ kind: String) throws {
        let bytes = try Self.bytes(scene, #require(ModelFile.Format(rawValue: kind)))
        let words = try #require(try Python.run("Exports/read_models.py", on: bytes, named: kind))
            .split(whereSeparator: \.isWhitespace)
        try #require(words.count == 3)
        #expect(words[0] == "18")
        #expect(words[1] == "0")
        #expect(abs(try #require(Double(words[2])) - 10.25) < 1e-3)
    }

    @Test func `a solid beyond the numbers of such files is an error that tells which it is`() {
        // As files may say; a 32-bit real holds less than 4 x 10^38.
        let far = Scene(nodes: [
            .group(Group(children: [.solid(Solid(shape: SolidShape(.cube), isVisible: false))])),
            .solid(
                Solid(
                    shape: SolidShape(.sphere),
                    transform: Transform(position: Vector3(1e41, 0, 0)))),
        ])
        for format in ModelFile.Format.allCases {
            let error = #expect(throws: DrawingError.self) { _ = try ModelFile(far, as: format) }
            #expect(error?.description.hasPrefix("solid.2: ") == true)
        }
    }

    @Test func `a camera beyond the numbers of such files is an error where the file has one`()
        throws
    {
        var far = scene
        far.camera.position = Vector3(0, 1e41, 0)
        #expect(throws: DrawingError.self) { _ = try ModelFile(far, as: .glb) }
        #expect(try Self.bytes(far, .stl) == Self.bytes(scene, .stl))
    }

    @Test(arguments: ModelFile.Format.allCases)
    func `files are handed out in parts, however many solids there are and however they are called`(
        _ format: ModelFile.Format
    ) throws {
        let name = String(repeating: "n", count: Limits.nameLength)
        let scene = Scene(
            nodes: (0..<1_000).map { number in
                .solid(Solid(name: "\(number)\(name)", shape: SolidShape(.pyramid)))
            })
        var largest = 0
        try ModelFile(scene, as: format).write { largest = max(largest, $0.count) }
        #expect(largest <= 96 << 10)
    }

    @Test func `an empty scene makes files without solids`() throws {
        let empty = Scene()
        #expect(try Self.bytes(empty, .stl).count == 84)
        #expect(try Self.bytes(empty, .glb).starts(with: Array("glTF".utf8)))
        let text = try Self.bytes(empty, .obj)
        #expect(String(decoding: text, as: UTF8.self) == "# ShapeEdit; y up\n")
    }
}
