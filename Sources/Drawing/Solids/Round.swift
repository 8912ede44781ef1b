/// Spheres, cylinders and cones.
enum Round {
    /// Where a t^2 + 2 b t + c falls through 0: that is where a ray comes in.
    @inline(__always)
    static func falling(_ a: Double, _ b: Double, _ c: Double) -> Double? {
        let square = b * b - a * c
        guard square >= 0 else { return nil }
        let root = square.squareRoot()
        // Of the two forms of the same root the one that does not subtract likes from likes.
        if b < 0 { return c / (root - b) }
        let distance = (-b - root) / a
        return distance.isFinite ? distance : nil
    }

    static func sphere(_ ray: Ray, _ centre: Vector, _ radius: Double, _ near: Double) -> Entry? {
        let origin = ray.origin - centre
        let a = ray.direction.dot(ray.direction)
        let b = origin.dot(ray.direction)
        let square = b * b - a * (origin.dot(origin) - radius * radius)
        guard square >= 0 else { return nil }
        let distance = (-b - square.squareRoot()) / a
        guard distance >= near else { return nil }
        return Entry(distance: distance, normal: origin + ray.direction * distance, face: 0)
    }

    /// A cone without its tip, or a cylinder, around y.
    static func frustum(
        _ ray: Ray, _ top: Double, _ bottom: Double, _ halfHeight: Double, _ near: Double
    ) -> Entry? {
        let (o, d) = (ray.origin, ray.direction)
        // The disc that faces the ray.
        if d.y != 0 {
            let up = d.y < 0
            let height = up ? halfHeight : -halfHeight
            let radius = up ? top : bottom
            let distance = (height - o.y) / d.y
            let x = o.x + d.x * distance
            let z = o.z + d.z * distance
            if distance >= near, x * x + z * z <= radius * radius {
                return Entry(
                    distance: distance, normal: Vector(0, up ? 1 : -1, 0), face: up ? 1 : 2)
            }
        }
        // The side, of radius `middle + slope * y`.
        let slope = (top - bottom) / (2 * halfHeight)
        let middle = (top + bottom) / 2
        let radius = middle + slope * o.y
        let growth = slope * d.y
        let a = d.x * d.x + d.z * d.z - growth * growth
        let b = o.x * d.x + o.z * d.z - radius * growth
        let c = o.x * o.x + o.z * o.z - radius * radius
        guard let distance = falling(a, b, c), distance >= near else { return nil }
        let p = ray.at(distance)
        guard abs(p.y) <= halfHeight else { return nil }
        return Entry(
            distance: distance, normal: Vector(p.x, -slope * (middle + slope * p.y), p.z), face: 0)
    }
}
