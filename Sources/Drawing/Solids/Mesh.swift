/// A surface of triangles, closed, counter-clockwise seen from outside.
struct Mesh {
    var positions: [Vector] = []
    /// Of length 1, one for each position. Places on creases are there once for each side.
    var normals: [Vector] = []
    var triangles: [(UInt32, UInt32, UInt32)] = []

    /// Adds a place and says its number.
    mutating func add(_ position: Vector, _ normal: Vector) -> UInt32 {
        positions.append(position)
        normals.append(normal)
        return UInt32(positions.count - 1)
    }

    mutating func triangle(_ a: UInt32, _ b: UInt32, _ c: UInt32) {
        // Where corners are one place, as at a tip, there is no area.
        let (p, q, r) = (positions[Int(a)], positions[Int(b)], positions[Int(c)])
        if p != q, q != r, r != p { triangles.append((a, b, c)) }
    }

    /// A flat polygon, its corners counter-clockwise seen from outside.
    mutating func polygon(_ corners: [Vector], normal: Vector) {
        let indices = corners.map { add($0, normal) }
        for index in indices.indices.dropFirst(2) {
            triangle(indices[0], indices[index - 1], indices[index])
        }
    }

    /// A grid of places, row by row, upward seen from outside and columns to the right.
    mutating func grid(_ rows: [[(position: Vector, normal: Vector)]]) {
        let indices = rows.map { row in row.map { add($0.position, $0.normal) } }
        for (low, high) in zip(indices, indices.dropFirst()) {
            for column in low.indices.dropLast() {
                triangle(low[column], low[column + 1], high[column + 1])
                triangle(low[column], high[column + 1], high[column])
            }
        }
    }

    /// The mesh in another space.
    func moved(_ place: Affine) -> Mesh? {
        guard let inverse = place.inverse else { return nil }
        var result = self
        result.positions = positions.map(place.point)
        result.normals = normals.map { inverse.normal($0).normalized ?? Vector(0, 1, 0) }
        // A mirror turns the sides around.
        if place.determinant < 0 { result.triangles = triangles.map { ($0.0, $0.2, $0.1) } }
        return result
    }
}
