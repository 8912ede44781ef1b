import Testing

@testable import Drawing

/// The triangles of the solids, before any file format.
@Suite struct MeshTests {
    private static let bodies: [(body: Body, volume: Double)] = [
        (.sphere(radius: 1), 4 / 3 * Trigonometry.pi),
        (.box(half: Vector(1, 1, 1), edge: 0), 8),
        // The box less its edges (a square without a quarter disc) and corners.
        (
            .box(half: Vector(1, 1, 1), edge: 0.1),
            1.8 * 1.8 * 1.8 + 6 * 1.8 * 1.8 * 0.1 + 3 * 1.8 * Trigonometry.pi * 0.01
                + 4 / 3 * Trigonometry.pi * 0.001
        ),
        (.box(half: Vector(0.5, 0.5, 0.5), edge: 0.5), Trigonometry.pi / 6),
        (.cylinder(radius: 0.75, halfHeight: 1), Trigonometry.pi * 0.5625 * 2),
        (
            .cone(top: 0.5, bottom: 1.5, halfHeight: 0.75),
            Trigonometry.pi * 1.5 / 3 * (0.25 + 0.75 + 2.25)
        ),
        (.cone(top: 0, bottom: 1, halfHeight: 0.5), Trigonometry.pi / 3),
        (.torus(ring: 1, pipe: 0.2), 2 * Trigonometry.pi * Trigonometry.pi * 0.04),
        (.pyramid(halfWidth: 0.75, height: 1.5, halfLength: 0.75), 1.125),
    ]

    private struct Edge: Hashable {
        var from: [Double]
        var to: [Double]
    }

    @Test(arguments: bodies.indices)
    func `a solid's triangles close it and have its volume`(_ index: Int) {
        let (body, volume) = Self.bodies[index]
        let mesh = body.mesh(pieces: 64)
        var edges: [Edge: Int] = [:]
        var sum = 0.0
        for (a, b, c) in mesh.triangles {
            let corners = [a, b, c].map { mesh.positions[Int($0)] + Vector(0, 0, 0) }
            for (from, to) in [(0, 1), (1, 2), (2, 0)] {
                // Adding 0 makes -0 and 0 the same place.
                func key(_ v: Vector) -> [Double] { [v.x, v.y, v.z] }
                edges[Edge(from: key(corners[from]), to: key(corners[to])), default: 0] += 1
            }
            sum += corners[0].dot(corners[1].cross(corners[2])) / 6
        }
        // Each edge once in each direction.
        #expect(edges.values.allSatisfy { $0 == 1 })
        #expect(edges.keys.allSatisfy { edges[Edge(from: $0.to, to: $0.from)] == 1 })
        #expect(abs(sum - volume) < 0.015 * volume)
    }

    @Test(arguments: bodies.indices)
    func `normals point outward`(_ index: Int) {
        let mesh = Self.bodies[index].body.mesh(pieces: 64)
        for (a, b, c) in mesh.triangles {
            let (p, q, r) = (
                mesh.positions[Int(a)], mesh.positions[Int(b)], mesh.positions[Int(c)]
            )
            let flat = (q - p).cross(r - p)
            for corner in [a, b, c] { #expect(mesh.normals[Int(corner)].dot(flat) > 0) }
        }
    }
}
