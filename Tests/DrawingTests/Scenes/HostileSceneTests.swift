import Documents
import Drawing
import Probing
import Testing

/// Scenes that no reader lets through, and those it does, in the worst shapes.
@Suite struct HostileSceneTests {
    private static let numbers = [
        0, -1, 1e-300, 1e300, -1e38, 3.4e38, Double.nan, .infinity, -.infinity, 0.5, 1e-9, 7,
    ]

    @Test func `no number of a scene crashes a picture or an export`() throws {
        var random = SplitMix(seed: 42)
        func number() -> Double { Self.numbers.randomElement(using: &random) ?? 1 }
        func vector() -> Vector3 { Vector3(number(), number(), number()) }
        let size = try PixelSize(width: 12, height: 9)
        for _ in 0..<300 {
            let shapes: [SolidShape] = [
                .sphere(radius: number()),
                .cube(width: number(), height: number(), depth: number(), roundedEdge: number()),
                .cylinder(radius: number(), height: number()),
                .cone(topRadius: number(), bottomRadius: number(), height: number()),
                .torus(ringRadius: number(), pipeRadius: number()),
                .pyramid(width: number(), height: number(), depth: number()),
                .torus(ringRadius: 1, pipeRadius: 0.3),
            ]
            let nodes = shapes.map { shape in
                SceneNode.solid(
                    Solid(
                        name: "a\u{0} b\n", shape: shape,
                        transform: Transform(
                            position: vector(),
                            rotation: Rotation(axis: vector(), degrees: number()),
                            scale: vector()),
                        opacity: number()))
            }
            let camera = Camera(
                position: vector(),
                orientation: Bool.random(using: &random)
                    ? .target(vector())
                    : .rotation(Rotation(axis: vector(), degrees: number())),
                fieldOfView: number())
            let scene = Scene(camera: camera, nodes: nodes)
            let bitmap = try Picture.scene(scene).bitmap(fitting: size)
            #expect(bitmap.pixels.allSatisfy { $0 >> 24 == 0xFF })
        }
    }

    @Test func `too many solids are refused`() throws {
        let node = SceneNode.solid(Solid(shape: SolidShape(.sphere)))
        let scene = Scene(nodes: Array(repeating: node, count: PictureLimits.solids + 1))
        let size = try PixelSize(width: 8, height: 8)
        #expect(
            throws: DrawingError.tooManyParts(
                count: PictureLimits.solids + 1, limit: PictureLimits.solids)
        ) { try Picture.scene(scene).png(fitting: size) }
    }

    @Test(arguments: [1, 0.5])
    func `solids that many others are hidden behind look as without them`(
        _ opacity: Double
    ) throws {
        func solid(_ shape: SolidShape, _ x: Double, _ z: Double) -> SceneNode {
            let place = Transform(
                position: Vector3(x, x / 2, z), rotation: Rotation(axis: .one, degrees: 30))
            return .solid(Solid(shape: shape, transform: place, opacity: opacity))
        }
        let wall = SolidShape.cube(width: 90, height: 90, depth: 0.1, roundedEdge: 0)
        let seen = [
            solid(SolidShape(.torus), 0.3, 0), solid(SolidShape(.cone), -1, -1),
            solid(SolidShape(.sphere), 1.2, -0.5),
            .solid(Solid(shape: wall, transform: Transform(position: Vector3(0, 0, -4)))),
        ]
        let hidden = (0..<400).map { number in
            solid(.sphere(radius: 0.2), Double(number % 20) - 10, -20 - Double(number))
        }
        let size = try PixelSize(width: 120, height: 90)
        let few = try Picture.scene(Scene(background: .white, nodes: seen)).bitmap(fitting: size)
        let many = Scene(background: .white, nodes: seen + hidden)
        #expect(try Picture.scene(many).bitmap(fitting: size) == few)
    }
}
