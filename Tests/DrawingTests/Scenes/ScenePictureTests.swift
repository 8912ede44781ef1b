import Documents
import Drawing
import Testing

/// What pictures of scenes show.
@Suite struct ScenePictureTests {
    private let size: PixelSize

    init() throws { size = try PixelSize(width: 110, height: 135) }

    private func solid(
        _ kind: SolidKind, at position: Vector3 = .zero, color: Color? = nil, opacity: Double = 1
    ) -> SceneNode {
        .solid(
            Solid(
                shape: SolidShape(kind), transform: Transform(position: position), color: color,
                opacity: opacity))
    }

    private func pixel(_ scene: Scene, _ x: Int, _ y: Int) throws -> [UInt8] {
        let (red, green, blue) = try Picture.scene(scene).bitmap(fitting: size)[x, y]
        return [red, green, blue]
    }

    @Test(arguments: SolidKind.allCases)
    func `a solid lies on its own colour at 30 percent`(_ kind: SolidKind) throws {
        let scene = Scene(nodes: [solid(kind)])
        let color = kind.standardColor
        let tint = [color.red, color.green, color.blue].map { channel -> Int in
            let sum = Int(channel) * 77 + 255 * 178
            return (sum + 127) / 255
        }
        #expect(try pixel(scene, 0, 0).map(Int.init) == tint)
    }

    @Test func `a surface that faces the camera has the full colour`() throws {
        let scene = Scene(nodes: [solid(.sphere)])
        // The middle of the picture lies between four pixels that face the camera.
        #expect(try pixel(scene, 55, 67) == [253, 61, 57])
    }

    @Test func `the background of the document comes first`() throws {
        let scene = Scene(
            background: Color(red: 1, green: 2, blue: 3), nodes: [solid(.sphere)])
        #expect(try pixel(scene, 0, 0) == [1, 2, 3])
    }

    @Test func `the nearer solid hides the farther one in either order`() throws {
        let near = solid(.cube, at: Vector3(0, 0, 0.5), color: .white)
        let far = solid(.sphere, at: Vector3(0, 0, -3))
        #expect(try pixel(Scene(nodes: [near, far]), 55, 67) == [255, 255, 255])
        #expect(try pixel(Scene(nodes: [far, near]), 55, 67) == [255, 255, 255])
    }

    @Test func `half clear white over black is grey`() throws {
        let near = solid(.cube, color: .white, opacity: 0.5)
        let far = solid(.cube, at: Vector3(0, 0, -4), color: .black)
        let gray = try pixel(Scene(nodes: [near, far]), 55, 67)
        #expect(gray.allSatisfy { (126...129).contains($0) })
    }

    @Test func `the far side of a half clear ring is seen through its near side`() throws {
        // The middle of the picture looks through the ring from its edge: in at 1.2, out, in at -0.8.
        let ring = solid(.torus, color: .black, opacity: 0.5)
        func middle(_ others: [SceneNode]) throws -> UInt8 {
            try pixel(Scene(background: .white, nodes: others + [ring]), 55, 67)[0]
        }
        #expect((62...66).contains(try middle([])))
        // Something in the ring is behind one side and hides the other one.
        let ball = SolidShape.sphere(radius: 0.5)
        let opaque = SceneNode.solid(Solid(shape: ball, color: .white))
        #expect((126...129).contains(try middle([opaque])))
        let clear = SceneNode.solid(Solid(shape: ball, color: .white, opacity: 0.5))
        // White, half black, then half white, and half black again.
        #expect((94...97).contains(try middle([clear])))
    }

    @Test func `a ring seen right from its edge hides what is in it`() throws {
        let ball = SceneNode.solid(Solid(shape: .sphere(radius: 0.5), color: .white))
        let scene = Scene(background: .white, nodes: [ball, solid(.torus, color: .black)])
        #expect(try pixel(scene, 55, 67) == [0, 0, 0])
    }

    @Test func `many layers dim what is behind them to nothing`() throws {
        let wall = SolidShape.cube(width: 90, height: 90, depth: 0.01, roundedEdge: 0)
        func layer(_ z: Double, _ color: Color, _ opacity: Double) -> SceneNode {
            .solid(
                Solid(
                    shape: wall, transform: Transform(position: Vector3(0, 0, z)), color: color,
                    opacity: opacity))
        }
        let layers = (0..<30).map { layer(-Double($0), Color(red: 200, green: 0, blue: 0), 0.5) }
        let behind = [layer(-40, .white, 1), layer(-35, .white, 0.5)]
        let alone = try pixel(Scene(background: .black, nodes: layers), 55, 67)
        #expect(alone == [200, 0, 0])
        #expect(try pixel(Scene(background: .black, nodes: behind + layers), 55, 67) == alone)
    }

    @Test func `a group moves, hides and stretches its solids`() throws {
        let ball = solid(.sphere, color: .black)
        func scene(_ transform: Transform, isVisible: Bool = true) -> Scene {
            let group = Group(transform: transform, children: [ball], isVisible: isVisible)
            return Scene(background: .white, nodes: [.group(group)])
        }
        let middle = (x: 55, y: 67)
        #expect(try pixel(scene(Transform()), middle.x, middle.y) == [0, 0, 0])
        let moved = Transform(position: Vector3(0, 5, 0))
        #expect(try pixel(scene(moved), middle.x, middle.y) == [255, 255, 255])
        #expect(
            try pixel(scene(Transform(), isVisible: false), middle.x, middle.y)
                == [255, 255, 255])
        let wide = Transform(scale: Vector3(3, 1, 1))
        #expect(try pixel(scene(wide), 2, middle.y) == [0, 0, 0])
        #expect(try pixel(scene(Transform()), 2, middle.y) == [255, 255, 255])
    }

    @Test func `turning the camera around shows nothing of what is behind it`() throws {
        let camera = Camera(
            orientation: .rotation(Rotation(axis: Vector3(0, 1, 0), degrees: 180)))
        let scene = Scene(background: .white, camera: camera, nodes: [solid(.cube)])
        let bitmap = try Picture.scene(scene).bitmap(fitting: size)
        #expect(bitmap.pixels.allSatisfy { $0 == 0xFFFF_FFFF })
    }

    @Test func `a target and the rotation towards it show the same`() throws {
        let position = Vector3(3, 0, 0)
        let turned = Camera(
            position: position,
            orientation: .rotation(Rotation(axis: Vector3(0, 1, 0), degrees: 90)))
        let aimed = Camera(position: position, orientation: .target(.zero))
        let pictures = try [turned, aimed].map { camera in
            try Picture.scene(Scene(camera: camera, nodes: [solid(.pyramid)]))
                .bitmap(fitting: size)
        }
        let differing = zip(pictures[0].pixels, pictures[1].pixels).count { $0 != $1 }
        // Rounding may fall differently on an outline.
        #expect(differing < 20)
    }

    @Test func `outlines are smooth`() throws {
        let scene = Scene(background: .white, nodes: [solid(.sphere, color: .black)])
        let bitmap = try Picture.scene(scene).bitmap(fitting: size)
        let shades = Set(bitmap.pixels.map { $0 & 0xFF })
        // Five rays can see black 0 to 5 times.
        #expect(shades == [0, 51, 102, 153, 204, 255])
    }
}
