/// A pyramid on a rectangle: the ray is cut by five planes.
enum Pyramid {
    static func entry(
        _ ray: Ray, _ halfWidth: Double, _ height: Double, _ halfLength: Double, _ near: Double
    ) -> Entry? {
        var enter = -Double.infinity
        var leave = Double.infinity
        var normal = Vector(0, 0, 0)
        var face: UInt8 = 0
        for side in 0..<5 {
            // Inside is where `outward . p <= limit`.
            let outward: Vector
            switch side {
            case 0: outward = Vector(0, -1, 0)
            case 1: outward = Vector(height, halfWidth, 0)
            case 2: outward = Vector(-height, halfWidth, 0)
            case 3: outward = Vector(0, halfLength, height)
            default: outward = Vector(0, halfLength, -height)
            }
            let limit = side == 0 ? 0 : side < 3 ? halfWidth * height : halfLength * height
            let speed = outward.dot(ray.direction)
            let over = outward.dot(ray.origin) - limit
            if speed == 0 {
                if over > 0 { return nil }
                continue
            }
            let distance = -over / speed
            if speed < 0 {
                if distance > enter { (enter, normal, face) = (distance, outward, UInt8(side)) }
            } else {
                leave = min(leave, distance)
            }
        }
        guard enter <= leave, enter >= near else { return nil }
        return Entry(distance: enter, normal: normal, face: face)
    }
}
