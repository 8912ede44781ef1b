/// A point or direction. Its operations work lane by lane, so they give the same bits everywhere.
typealias Vector = SIMD3<Double>

extension SIMD3<Double> {
    /// The inner product, added in a fixed order.
    @inline(__always)
    func dot(_ other: Vector) -> Double { x * other.x + y * other.y + z * other.z }

    /// The vector product.
    @inline(__always)
    func cross(_ other: Vector) -> Vector {
        Vector(
            y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
    }

    @inline(__always)
    var length: Double { dot(self).squareRoot() }

    /// The vector of length 1, or nil if there is none.
    var normalized: Vector? {
        // The largest part first, so that squares neither overflow nor vanish.
        let largest = Swift.max(abs(x), Swift.max(abs(y), abs(z)))
        guard largest > 0, largest.isFinite else { return nil }
        let scaled = self / largest
        return scaled / scaled.length
    }

    var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}
