/// Boxes with sharp or rounded edges.
enum Boxes {
    @inline(__always)
    static func entry(_ ray: Ray, _ half: Vector, _ edge: Double, _ near: Double) -> Entry? {
        let flat = half - edge
        var enter = -Double.infinity
        var leave = Double.infinity
        var axis = 0
        guard
            narrow(ray.origin.x, ray.direction.x, half.x, 0, &enter, &leave, &axis),
            narrow(ray.origin.y, ray.direction.y, half.y, 1, &enter, &leave, &axis),
            narrow(ray.origin.z, ray.direction.z, half.z, 2, &enter, &leave, &axis),
            enter <= leave, leave >= near
        else { return nil }
        if enter >= near, let hit = face(ray, enter, axis, flat, edge) { return hit }
        return edge > 0 ? rounded(ray, half, flat, edge, near, ray.at(enter)) : nil
    }

    /// Keeps of the ray what is between two opposite sides; false if that is nothing.
    @inline(__always)
    private static func narrow(
        _ origin: Double, _ direction: Double, _ half: Double, _ axis: Int,
        _ enter: inout Double, _ leave: inout Double, _ nearest: inout Int
    ) -> Bool {
        guard direction != 0 else { return abs(origin) <= half }
        let towards = direction < 0 ? half : -half
        let inverse = 1 / direction
        let first = (towards - origin) * inverse
        if first > enter { (enter, nearest) = (first, axis) }
        leave = min(leave, (-towards - origin) * inverse)
        return true
    }

    /// The flat part of a side, if the ray meets it there.
    @inline(__always)
    private static func face(
        _ ray: Ray, _ distance: Double, _ axis: Int, _ flat: Vector, _ edge: Double
    ) -> Entry? {
        let p = ray.at(distance)
        // With sharp edges there is nothing beside the flat part, so rounding errors must not
        // open a gap there.
        if edge > 0 {
            guard axis == 0 || abs(p.x) <= flat.x, axis == 1 || abs(p.y) <= flat.y,
                axis == 2 || abs(p.z) <= flat.z
            else { return nil }
        }
        let speed = axis == 0 ? ray.direction.x : axis == 1 ? ray.direction.y : ray.direction.z
        let up = speed < 0
        let sign = up ? 1.0 : -1.0
        let normal = Vector(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0)
        // Rounded edges lead smoothly from side to side.
        let side = UInt8(axis) * 2 + (up ? 0 : 1)
        return Entry(
            distance: distance, normal: normal, face: edge > 0 ? 0 : side, part: side)
    }

    /// One of the other two sides, the twelve edges (cylinders) and eight corners (spheres). The
    /// whole is convex, so a ray comes in only once, and each part counts only where it is the
    /// outside: so the first one that is met is the one. Those nearest to where the ray meets the
    /// sharp box are tried first.
    private static func rounded(
        _ ray: Ray, _ half: Vector, _ flat: Vector, _ edge: Double, _ near: Double, _ meets: Vector
    ) -> Entry? {
        guard !passes(ray, 0, 1, flat, edge), !passes(ray, 1, 2, flat, edge),
            !passes(ray, 2, 0, flat, edge)
        else { return nil }
        func counts(_ entry: Entry?) -> Bool { entry.map { $0.distance >= near } ?? false }
        let signs = Vector(meets.x < 0 ? -1 : 1, meets.y < 0 ? -1 : 1, meets.z < 0 ? -1 : 1)
        let corners = flat * signs
        for k in 0..<3 where abs(meets[k]) <= flat[k] {
            let entry = cylinder(ray, k, corners, flat, edge)
            if counts(entry) { return entry }
        }
        for k in 0..<3 where ray.direction[k] != 0 {
            let towards = ray.direction[k] < 0 ? half[k] : -half[k]
            let entry = face(ray, (towards - ray.origin[k]) / ray.direction[k], k, flat, edge)
            if counts(entry) { return entry }
        }
        for corner in 0..<8 {
            let signs = Vector(
                corner & 1 == 0 ? -1 : 1, corner & 2 == 0 ? -1 : 1, corner & 4 == 0 ? -1 : 1)
            let centre = flat * signs
            if let entry = Round.sphere(ray, centre, edge, near) {
                let outward = entry.normal * signs
                if outward.x >= 0, outward.y >= 0, outward.z >= 0 {
                    return Entry(
                        distance: entry.distance, normal: entry.normal, face: 0, part: edgePart)
                }
            }
            // Each edge belongs to two corners; it is tried at the first.
            for k in 0..<3 where corner & 1 << k == 0 {
                let entry = cylinder(ray, k, centre, flat, edge)
                if counts(entry) { return entry }
            }
        }
        return nil
    }

    /// The rounded edges and corners, beside the six sides.
    private static let edgePart: UInt8 = 6

    /// Whether the ray passes beside the box as it is seen along the third axis: a rectangle with
    /// rounded corners. Most rays that meet the sharp box and not the rounded one do.
    @inline(__always)
    private static func passes(
        _ ray: Ray, _ i: Int, _ j: Int, _ flat: Vector, _ edge: Double
    ) -> Bool {
        let (s, t) = (ray.direction[i], ray.direction[j])
        // How far the ray is from the origin, and how far the flat parts reach towards it; both
        // times the length of the direction.
        let reach = abs(t) * flat[i] + abs(s) * flat[j]
        let beyond = abs(ray.origin[i] * t - ray.origin[j] * s) - reach
        // A little more than the edge: what is that near is decided by the edges themselves.
        return beyond > 0 && beyond * beyond > edge * edge * (s * s + t * t) * 1.000_001
    }

    /// The edge along axis `k` through a corner of the flat parts.
    private static func cylinder(
        _ ray: Ray, _ k: Int, _ corner: Vector, _ flat: Vector, _ edge: Double
    ) -> Entry? {
        let (i, j) = (k == 2 ? 0 : k + 1, k == 0 ? 2 : k - 1)
        let (a, b) = (corner[i], corner[j])
        let (u, v) = (ray.origin[i] - a, ray.origin[j] - b)
        let (s, t) = (ray.direction[i], ray.direction[j])
        guard
            let distance = Round.falling(
                s * s + t * t, u * s + v * t, u * u + v * v - edge * edge)
        else { return nil }
        let (x, y) = (u + s * distance, v + t * distance)
        guard x * a >= 0, y * b >= 0, abs(ray.origin[k] + ray.direction[k] * distance) <= flat[k]
        else { return nil }
        var normal = Vector(0, 0, 0)
        normal[i] = x
        normal[j] = y
        return Entry(distance: distance, normal: normal, face: 0, part: edgePart)
    }
}
