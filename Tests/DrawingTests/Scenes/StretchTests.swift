import Documents
import Drawing
import Probing
import Testing

/// Pixels without a ray of their own look as if they had one.
@Suite struct StretchTests {
    /// A solid of any proportions and place.
    private func solid(_ kind: SolidKind, _ numbers: inout SplitMix) -> Solid {
        func random(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &numbers) }
        let shape: SolidShape =
            switch kind {
            case .sphere: .sphere(radius: random(0.3...1.5))
            case .cube:
                .cube(
                    width: random(0.05...2), height: random(0.05...2), depth: random(0.05...2),
                    roundedEdge: max(0, random(-0.1...0.2)))
            case .cylinder: .cylinder(radius: random(0.01...1), height: random(0.01...2))
            case .cone:
                .cone(
                    topRadius: max(0, random(-1...1)), bottomRadius: random(0.05...1),
                    height: random(0.05...2))
            case .torus:
                .torus(ringRadius: random(0.2...1.2), pipeRadius: random(0.01...0.4))
            case .pyramid:
                .pyramid(
                    width: random(0.05...2), height: random(0.05...2), depth: random(0.05...2))
            }
        let transform = Transform(
            position: Vector3(random(-0.5...0.5), random(-0.5...0.5), random(-1...0.5)),
            rotation: Rotation(
                axis: Vector3(random(-1...1), random(-1...1), random(-1...1)),
                degrees: random(0...360)),
            scale: Vector3(random(0.6...1.4), random(0.6...1.4), random(0.6...1.4)))
        return Solid(shape: shape, transform: transform)
    }

    /// A ring around the camera, which does not see it: no solid is alone in a row with it.
    private static let around = Solid(
        shape: SolidShape(.torus),
        transform: Transform(
            position: Vector3(0, 0, 4), rotation: Rotation(axis: Vector3(1, 0, 0), degrees: 90)))

    @Test(arguments: SolidKind.allCases, 0..<6)
    func `a solid alone looks as one that is not`(_ kind: SolidKind, _ seed: Int) throws {
        var numbers = SplitMix(seed: UInt64(seed) &* 977 &+ UInt64(kind.rawValue) &+ 1)
        let size = try PixelSize(width: 420, height: 400)
        let solid = SceneNode.solid(solid(kind, &numbers))
        let camera = Camera(position: Vector3(0, 0, 4), orientation: .target(.zero))
        let background = Color("white")
        let alone = Scene(background: background, camera: camera, nodes: [solid])
        let both = Scene(
            background: background, camera: camera, nodes: [solid, .solid(Self.around)])
        let fast = try Picture.scene(alone).bitmap(fitting: size)
        let slow = try Picture.scene(both).bitmap(fitting: size)
        var most = 0
        var others = 0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (a, b) = (fast[x, y], slow[x, y])
                let difference = max(
                    abs(Int(a.red) - Int(b.red)),
                    max(abs(Int(a.green) - Int(b.green)), abs(Int(a.blue) - Int(b.blue))))
                most = max(most, difference)
                if difference > 0 { others += 1 }
            }
        }
        #expect(most <= 4, "seed \(seed): \(others) pixels differ")
        #expect(others * 50 < size.width * size.height)
    }
}
