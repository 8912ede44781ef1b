/// A map of space: three columns and a translation.
struct Affine: Sendable {
    var x = Vector(1, 0, 0)
    var y = Vector(0, 1, 0)
    var z = Vector(0, 0, 1)
    var translation = Vector(0, 0, 0)

    static let identity = Affine()

    /// Scales, then turns about an axis by an angle in radians, then moves. An axis of length 0
    /// turns nothing.
    init(move: Vector, axis: Vector, angle: Double, scale: Vector) {
        let turn = Affine(axis: axis, angle: angle)
        x = turn.x * scale.x
        y = turn.y * scale.y
        z = turn.z * scale.z
        translation = move
    }

    /// A turn about an axis, counter-clockwise when it points at the viewer.
    init(axis: Vector, angle: Double) {
        guard let axis = axis.normalized, angle != 0 else { return }
        let (sine, cosine) = Trigonometry.sineAndCosine(angle)
        let rest = 1 - cosine
        func column(_ unit: Vector, _ part: Double) -> Vector {
            unit * cosine + axis.cross(unit) * sine + axis * (part * rest)
        }
        x = column(Vector(1, 0, 0), axis.x)
        y = column(Vector(0, 1, 0), axis.y)
        z = column(Vector(0, 0, 1), axis.z)
    }

    init(x: Vector, y: Vector, z: Vector, translation: Vector) {
        self.x = x
        self.y = y
        self.z = z
        self.translation = translation
    }

    private init() {}

    func direction(_ v: Vector) -> Vector { x * v.x + y * v.y + z * v.z }
    func point(_ p: Vector) -> Vector { direction(p) + translation }

    /// First `inner`, then this map.
    func after(_ inner: Affine) -> Affine {
        Affine(
            x: direction(inner.x), y: direction(inner.y), z: direction(inner.z),
            translation: point(inner.translation))
    }

    var determinant: Double { x.dot(y.cross(z)) }

    /// The map back; nil where space collapses or a number is not finite.
    var inverse: Affine? {
        let determinant = determinant
        guard determinant != 0, determinant.isFinite else { return nil }
        let rows = (y.cross(z) / determinant, z.cross(x) / determinant, x.cross(y) / determinant)
        let back = Affine(
            x: Vector(rows.0.x, rows.1.x, rows.2.x), y: Vector(rows.0.y, rows.1.y, rows.2.y),
            z: Vector(rows.0.z, rows.1.z, rows.2.z), translation: Vector(0, 0, 0))
        var result = back
        result.translation = -back.direction(translation)
        let parts = [result.x, result.y, result.z, result.translation]
        return parts.allSatisfy(\.isFinite) ? result : nil
    }

    /// Whether it only moves, turns and scales alike in all directions, to a thousandth.
    var keepsProportions: Bool {
        let square = x.dot(x)
        let most = square / 1000
        return abs(y.dot(y) - square) <= most && abs(z.dot(z) - square) <= most
            && abs(x.dot(y)) <= most && abs(y.dot(z)) <= most && abs(z.dot(x)) <= most
    }

    /// What turns normals of surfaces, given the map back: the transposed of its columns.
    func normal(_ n: Vector) -> Vector { Vector(x.dot(n), y.dot(n), z.dot(n)) }
}
