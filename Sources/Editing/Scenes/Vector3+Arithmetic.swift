import Documents

extension Vector3 {
    static func + (left: Vector3, right: Vector3) -> Vector3 {
        Vector3(left.x + right.x, left.y + right.y, left.z + right.z)
    }

    static func - (left: Vector3, right: Vector3) -> Vector3 {
        Vector3(left.x - right.x, left.y - right.y, left.z - right.z)
    }

    static func * (left: Vector3, right: Double) -> Vector3 {
        Vector3(left.x * right, left.y * right, left.z * right)
    }

    /// Part by part.
    static func * (left: Vector3, right: Vector3) -> Vector3 {
        Vector3(left.x * right.x, left.y * right.y, left.z * right.z)
    }

    static func / (left: Vector3, right: Double) -> Vector3 {
        Vector3(left.x / right, left.y / right, left.z / right)
    }

    func dot(_ other: Vector3) -> Double { x * other.x + y * other.y + z * other.z }

    func cross(_ other: Vector3) -> Vector3 {
        Vector3(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
    }

    var length: Double { dot(self).squareRoot() }

    /// Without what is left of rounding; see `Double.tidy`.
    var tidy: Vector3 { Vector3(x.tidy, y.tidy, z.tidy) }

    /// As `tidy`, but parts that are the same in `old` stay so to the last digit.
    func tidy(unlike old: Vector3) -> Vector3 {
        Vector3(
            x == old.x ? old.x : x.tidy, y == old.y ? old.y : y.tidy, z == old.z ? old.z : z.tidy)
    }
}

extension Double {
    /// Rounded to 9 decimal places where the number is small enough to have them: what
    /// calculating leaves beyond them is not what anybody meant.
    var tidy: Double {
        guard magnitude < 1e6 else { return self }
        let rounded = (self * 1e9).rounded() / 1e9
        return rounded == 0 ? 0 : rounded
    }
}
