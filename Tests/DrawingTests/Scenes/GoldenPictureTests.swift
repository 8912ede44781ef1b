import Documents
import Drawing
import Testing

/// Pictures of scenes have the same pixels on every machine: these were made on x86-64.
@Suite struct GoldenPictureTests {
    private static let thumbnails: [(SolidKind, UInt64)] = [
        (.sphere, 18_010_963_668_484_881_232), (.cube, 12_226_048_376_157_368_024),
        (.cylinder, 12_357_076_696_367_165_418), (.cone, 7_812_033_167_939_629_917),
        (.torus, 13_228_017_297_677_535_586), (.pyramid, 9_230_447_021_982_441_137),
    ]

    private func checksum(_ scene: Scene, _ width: Int, _ height: Int) throws -> UInt64 {
        let size = try PixelSize(width: width, height: height)
        return try Picture.scene(scene).bitmap(fitting: size).checksum
    }

    @Test(arguments: thumbnails)
    func `a solid as the original app shows it`(_ kind: SolidKind, _ golden: UInt64) throws {
        let scene = Scene(nodes: [.solid(Solid(shape: SolidShape(kind)))])
        let found = try checksum(scene, 220, 270)
        #expect(found == golden)
    }

    @Test func `a scene with groups, turns, stretches and clear solids`() throws {
        let nodes = SolidKind.allCases.map { kind in
            let index = Double(kind.rawValue)
            return SceneNode.solid(
                Solid(
                    shape: SolidShape(kind),
                    transform: Transform(
                        position: Vector3(index * 1.3 - 3, index / 4, -index),
                        rotation: Rotation(axis: Vector3(1, index, 2), degrees: 40 * index),
                        scale: Vector3(1, 0.5 + index / 5, 1)),
                    opacity: kind == .cylinder ? 0.6 : 1))
        }
        let group = Group(
            transform: Transform(rotation: Rotation(axis: Vector3(0, 1, 0), degrees: 25)),
            children: nodes)
        let camera = Camera(
            position: Vector3(2, 3, 7), orientation: .target(Vector3(0, 0, -1)), fieldOfView: 50)
        let scene = Scene(camera: camera, nodes: [.group(group)])
        let found = try checksum(scene, 320, 240)
        #expect(found == 5_634_944_548_720_512_030)
    }
}
