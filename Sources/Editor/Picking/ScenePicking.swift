import Documents
import Glibc

/// Which solid of a scene is at a place of its picture, about: solids count as balls.
enum ScenePicking {
    /// The nearest solid whose ball the line of sight meets, by its place in the list of parts;
    /// places run from -1 to 1 to the right and up.
    static func part(of scene: Scene, at place: (x: Double, y: Double), aspect: Double) -> Int? {
        let camera = scene.camera
        let rotation =
            switch camera.orientation {
            case .rotation(let rotation): rotation
            case .target(let target): Rotation(from: camera.position, to: target)
            }
        let half = tan(camera.fieldOfView / 2 * .pi / 180)
        let ray = Ball.unit(
            Ball.turned(Vector3(place.x * half * aspect, place.y * half, -1), by: rotation))
        var best: (index: Int, depth: Double)?
        for (index, ball) in balls(scene.nodes).enumerated() {
            guard let ball else { continue }
            let arm = Ball.difference(ball.center, camera.position)
            let depth = Ball.dot(arm, ray)
            let aside = Ball.dot(arm, arm) - depth * depth
            guard depth > 0, aside <= ball.radius * ball.radius else { continue }
            // The line meets the ball before its middle.
            let front = depth - (ball.radius * ball.radius - aside).squareRoot()
            if best.map({ front < $0.depth }) ?? true { best = (index, front) }
        }
        return best?.index
    }

    /// The balls of all parts in the order of the list; nil for groups and what is not seen.
    private static func balls(_ nodes: [SceneNode]) -> [Ball?] {
        nodes.flatMap { node -> [Ball?] in
            let inner: [Ball?]
            switch node {
            case .solid(let solid): inner = [Ball(solid.shape)]
            case .group(let group): inner = [nil] + balls(group.children)
            }
            return inner.map { node.isVisible ? $0?.within(node.transform) : nil }
        }
    }
}

/// A ball in space.
private struct Ball {
    var center: Vector3
    var radius: Double

    init(_ shape: SolidShape) {
        center = .zero
        switch shape {
        case .sphere(let radius): self.radius = radius
        case .cube(let width, let height, let depth, _):
            radius = (width + height + depth) / 6 * 1.2
        case .cylinder(let radius, let height): self.radius = max(radius, height / 2)
        case .cone(let top, let bottom, let height): radius = max(top, bottom, height / 2)
        case .torus(let ring, let pipe): radius = ring + pipe
        case .pyramid(let width, let height, let depth):
            center = Vector3(0, height / 2, 0)
            radius = max(width, height, depth) / 2
        }
    }

    func within(_ transform: Transform) -> Ball {
        var ball = self
        let scale = transform.scale
        let stretched = Vector3(center.x * scale.x, center.y * scale.y, center.z * scale.z)
        let turned = Ball.turned(stretched, by: transform.rotation)
        let position = transform.position
        ball.center = Vector3(turned.x + position.x, turned.y + position.y, turned.z + position.z)
        ball.radius *= max(scale.x, scale.y, scale.z)
        return ball
    }

    static func dot(_ a: Vector3, _ b: Vector3) -> Double { a.x * b.x + a.y * b.y + a.z * b.z }

    static func difference(_ a: Vector3, _ b: Vector3) -> Vector3 {
        Vector3(a.x - b.x, a.y - b.y, a.z - b.z)
    }

    static func unit(_ a: Vector3) -> Vector3 {
        let length = dot(a, a).squareRoot()
        return length > 0 ? Vector3(a.x / length, a.y / length, a.z / length) : Vector3(0, 0, -1)
    }

    /// By the formula of Rodrigues.
    static func turned(_ v: Vector3, by rotation: Rotation) -> Vector3 {
        guard !rotation.isNone else { return v }
        let k = unit(rotation.axis)
        let angle = rotation.degrees * .pi / 180
        let (c, s) = (cos(angle), sin(angle))
        let along = dot(k, v) * (1 - c)
        let cross = Vector3(
            k.y * v.z - k.z * v.y, k.z * v.x - k.x * v.z, k.x * v.y - k.y * v.x)
        return Vector3(
            v.x * c + cross.x * s + k.x * along, v.y * c + cross.y * s + k.y * along,
            v.z * c + cross.z * s + k.z * along)
    }
}
