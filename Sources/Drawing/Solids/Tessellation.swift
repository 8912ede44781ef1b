extension Body {
    /// The surface as triangles, with so many pieces for a full turn (a multiple of 4). With 64
    /// curved parts are within 0.2 % of their radius.
    func mesh(pieces: Int) -> Mesh {
        var mesh = Mesh()
        func turned(_ place: (Vector) -> (Vector, Vector)) -> [(position: Vector, normal: Vector)] {
            Body.turned(pieces, place)
        }
        switch self {
        case .sphere(let radius):
            let rows = (0...pieces / 2).map { row in
                turned { turn in
                    let (sine, cosine) = Body.tilt(row, pieces)
                    let normal = Vector(turn.x * cosine, sine, turn.z * cosine)
                    return (normal * radius, normal)
                }
            }
            mesh.grid(rows)
        case .box(let half, let edge): mesh.addBox(half, edge)
        case .cylinder(let radius, let halfHeight):
            mesh.addFrustum(radius, radius, halfHeight, turned)
        case .cone(let top, let bottom, let halfHeight):
            mesh.addFrustum(top, bottom, halfHeight, turned)
        case .torus(let ring, let pipe):
            // Seen from outside of the ring, up goes through the outer half first.
            let rows = (0...pieces / 2).map { row in
                turned { turn in
                    let angle = Double(row % (pieces / 2)) * 4 / Double(pieces)
                    let (sine, cosine) = Trigonometry.sineAndCosine(angle * Trigonometry.pi)
                    let normal = Vector(turn.x * cosine, sine, turn.z * cosine)
                    return (turn * ring + normal * pipe, normal)
                }
            }
            mesh.grid(rows)
        case .pyramid(let halfWidth, let height, let halfLength):
            mesh.addPyramid(halfWidth, height, halfLength)
        }
        return mesh
    }

    /// A row of places around y, counter-clockwise seen from above; the last is the first again,
    /// to the last bit.
    private static func turned(_ pieces: Int, _ place: (Vector) -> (Vector, Vector))
        -> [(position: Vector, normal: Vector)]
    {
        (0...pieces).map { piece in
            let angle = Double(piece % pieces) * 2 / Double(pieces) * Trigonometry.pi
            let (sine, cosine) = Trigonometry.sineAndCosine(angle)
            return place(Vector(cosine, 0, -sine))
        }
    }

    /// Sine and cosine of a row's latitude; at the poles exactly 1 and 0.
    private static func tilt(_ row: Int, _ pieces: Int) -> (Double, Double) {
        if row == 0 { return (-1, 0) }
        if row == pieces / 2 { return (1, 0) }
        let angle = (Double(row) * 2 / Double(pieces) - 0.5) * Trigonometry.pi
        return Trigonometry.sineAndCosine(angle)
    }
}

extension Mesh {
    fileprivate mutating func addFrustum(
        _ top: Double, _ bottom: Double, _ halfHeight: Double,
        _ turned: ((Vector) -> (Vector, Vector)) -> [(position: Vector, normal: Vector)]
    ) {
        let slope = (bottom - top) / (2 * halfHeight)
        let (up, down) = (Vector(0, 1, 0), Vector(0, -1, 0))
        let rows = [(bottom, -halfHeight), (top, halfHeight)].map { radius, y in
            turned { turn in
                let normal = (turn + up * slope).normalized ?? turn
                return (turn * radius + up * y, normal)
            }
        }
        grid(rows)
        polygon(rows[1].dropLast().map(\.position), normal: up)
        polygon(rows[0].dropLast().reversed().map(\.position), normal: down)
    }

    fileprivate mutating func addPyramid(_ w: Double, _ height: Double, _ l: Double) {
        let tip = Vector(0, height, 0)
        let base = [Vector(-w, 0, l), Vector(w, 0, l), Vector(w, 0, -l), Vector(-w, 0, -l)]
        for (corner, next) in zip(base, base.dropFirst() + base.prefix(1)) {
            let normal = (next - corner).cross(tip - corner).normalized ?? Vector(0, 1, 0)
            polygon([corner, next, tip], normal: normal)
        }
        polygon(base.reversed(), normal: Vector(0, -1, 0))
    }

    /// Each side as a grid on the sharp box whose places are drawn in to the rounded one. A place
    /// depends only on where it is on the sharp box, so sides meet to the last bit.
    fileprivate mutating func addBox(_ half: Vector, _ edge: Double) {
        let flat = half - edge
        let steps = 6
        func places(_ k: Int) -> [Double] {
            guard edge > 0 else { return [-half[k], half[k]] }
            let rises = (0...steps).map { flat[k] + edge * Double($0) / Double(steps) }
            // A half side that is all edge has only one place in the middle.
            return rises.reversed().map { -$0 } + (flat[k] > 0 ? rises : Array(rises.dropFirst()))
        }
        for k in 0..<3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3)
            for side in [-1.0, 1.0] {
                let columns = places(i)
                let rows = places(j).map { b in
                    (side > 0 ? columns : columns.reversed()).map { a in
                        var sharp = Vector(0, 0, 0)
                        (sharp[i], sharp[j], sharp[k]) = (a, b, side * half[k])
                        var flatNormal = Vector(0, 0, 0)
                        flatNormal[k] = side
                        guard edge > 0 else { return (sharp, flatNormal) }
                        let inner = pointwiseMin(pointwiseMax(sharp, -flat), flat)
                        let normal = (sharp - inner).normalized ?? flatNormal
                        return (inner + normal * edge, normal)
                    }
                }
                grid(rows)
            }
        }
    }
}
