import Probing
import Testing

@testable import Drawing

/// Rays against the solids, compared with walking along the ray in small steps.
@Suite struct RayTests {
    private static let bodies: [Body] = [
        .sphere(radius: 1), .box(half: Vector(1, 0.7, 1.2), edge: 0.1),
        .box(half: Vector(1, 1, 1), edge: 0), .box(half: Vector(0.5, 0.5, 0.5), edge: 0.5),
        .cylinder(radius: 0.75, halfHeight: 1),
        .cone(top: 0.5, bottom: 1.5, halfHeight: 0.75),
        .cone(top: 0, bottom: 1, halfHeight: 0.75), .cone(top: 1.2, bottom: 0, halfHeight: 0.5),
        .torus(ring: 1, pipe: 0.2), .torus(ring: 0.5, pipe: 0.6),
        .pyramid(halfWidth: 0.75, height: 1.5, halfLength: 0.5),
    ]

    /// Below 0 inside.
    private func outside(_ body: Body, _ p: Vector) -> Double {
        switch body {
        case .sphere(let radius): return p.length - radius
        case .box(let half, let edge):
            let q = Vector(abs(p.x), abs(p.y), abs(p.z)) - (half - edge)
            let beyond = pointwiseMax(q, .zero)
            return beyond.length + min(q.max(), 0) - edge
        case .cylinder(let radius, let halfHeight):
            return max((p.x * p.x + p.z * p.z).squareRoot() - radius, abs(p.y) - halfHeight)
        case .cone(let top, let bottom, let halfHeight):
            let part = (p.y + halfHeight) / (2 * halfHeight)
            let radius = bottom + (top - bottom) * part
            return max((p.x * p.x + p.z * p.z).squareRoot() - radius, abs(p.y) - halfHeight)
        case .torus(let ring, let pipe):
            let flat = (p.x * p.x + p.z * p.z).squareRoot() - ring
            return (flat * flat + p.y * p.y).squareRoot() - pipe
        case .pyramid(let halfWidth, let height, let halfLength):
            let part = 1 - p.y / height
            return max(
                -p.y, p.y - height, abs(p.x) - halfWidth * part, abs(p.z) - halfLength * part)
        }
    }

    @Test(arguments: bodies.indices)
    func `a ray comes in where a walk along it comes in`(_ index: Int) throws {
        let body = Self.bodies[index]
        var numbers = SplitMix(seed: UInt64(index) + 7)
        var hits = 0
        for _ in 0..<400 {
            func random(_ range: ClosedRange<Double>) -> Double {
                Double.random(in: range, using: &numbers)
            }
            let origin = Vector(random(-4...4), random(-4...4), random(-4...4))
            guard outside(body, origin) > 0.01 else { continue }
            let target = Vector(random(-1...1), random(-1...1), random(-1...1))
            let ray = Ray(origin: origin, direction: (target - origin) / 2)
            let entry = body.entry(ray, near: 0)
            let step = 0.002
            let walked = stride(from: 0, to: 8, by: step).first {
                outside(body, ray.at($0)) < 0
            }
            if let entry {
                hits += 1
                let p = ray.at(entry.distance)
                #expect(abs(outside(body, p)) < 1e-6)
                #expect(entry.normal.dot(ray.direction) < 1e-9)
                // The gradient, where the surface has one.
                let normal = try #require(entry.normal.normalized)
                #expect(outside(body, p + normal * 1e-4) > 0)
                if let walked { #expect(entry.distance <= walked + 1e-9) }
            }
            if let walked {
                let entry = try #require(entry)
                #expect(walked - entry.distance <= step * 30)
            }
        }
        #expect(hits > 50)
    }

    @Test func `a ray from within the pipe of a torus sees the far side of the ring`() throws {
        let ray = Ray(origin: Vector(-1, 0, 0), direction: Vector(1, 0, 0))
        let entry = try #require(Body.torus(ring: 1, pipe: 0.2).entry(ray, near: 0))
        #expect(abs(entry.distance - 1.8) < 1e-9)
    }
}
