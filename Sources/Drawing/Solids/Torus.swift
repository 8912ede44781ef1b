/// A torus about y: the first falling root of a polynomial of the fourth degree.
enum Torus {
    static func entry(_ ray: Ray, _ ring: Double, _ pipe: Double, _ near: Double) -> Entry? {
        guard let (start, end) = span(ray, ring + pipe, pipe), end > near else { return nil }
        // From a nearby start the numbers stay small, whatever the distance of the camera.
        let begin = max(start, near)
        if isWithinHole(ray, begin, end, ring - pipe) { return nil }
        let (o, d) = (ray.at(begin), ray.direction)
        let length = end - begin
        let r2 = ring * ring
        let alpha = d.dot(d)
        let beta = o.dot(d)
        let gamma = o.dot(o) + r2 - pipe * pipe
        let flatAlpha = d.x * d.x + d.z * d.z
        let flatBeta = o.x * d.x + o.z * d.z
        let flatGamma = o.x * o.x + o.z * o.z
        let quartic = Quartic(
            a: alpha * alpha, b: 4 * alpha * beta,
            c: 4 * beta * beta + 2 * alpha * gamma - 4 * r2 * flatAlpha,
            d: 4 * beta * gamma - 8 * r2 * flatBeta, e: gamma * gamma - 4 * r2 * flatGamma)
        // In the plane of the ring the ray meets it where it begins: rounding may put that just inside.
        let isMet = start >= near && quartic.e <= 0 && quartic.d < 0
        guard let t = isMet ? 0 : quartic.firstFall(upTo: length) else { return nil }
        let p = o + d * t
        let square = p.dot(p) + r2 - pipe * pipe
        // The gradient.
        let flat = square - 2 * r2
        return Entry(
            distance: begin + t, normal: Vector(p.x * flat, p.y * square, p.z * flat), face: 0)
    }

    /// Whether the ray stays within the hole between two places: it does if both are in it.
    @inline(__always)
    private static func isWithinHole(
        _ ray: Ray, _ start: Double, _ end: Double, _ radius: Double
    ) -> Bool {
        guard radius > 0 else { return false }
        func squareAt(_ distance: Double) -> Double {
            let p = ray.at(distance)
            return p.x * p.x + p.z * p.z
        }
        return max(squareAt(start), squareAt(end)) < radius * radius
    }

    /// Where the ray is within the cylinder around the torus.
    @inline(__always)
    private static func span(_ ray: Ray, _ radius: Double, _ halfHeight: Double)
        -> (Double, Double)?
    {
        let (o, d) = (ray.origin, ray.direction)
        var start = -Double.infinity
        var end = Double.infinity
        if d.y != 0 {
            let (one, other) = ((-halfHeight - o.y) / d.y, (halfHeight - o.y) / d.y)
            (start, end) = (min(one, other), max(one, other))
        } else if abs(o.y) > halfHeight {
            return nil
        }
        let a = d.x * d.x + d.z * d.z
        let b = o.x * d.x + o.z * d.z
        let c = o.x * o.x + o.z * o.z - radius * radius
        if a > 0 {
            let square = b * b - a * c
            guard square >= 0 else { return nil }
            let root = square.squareRoot()
            start = max(start, (-b - root) / a)
            end = min(end, (-b + root) / a)
        } else if c > 0 {
            return nil
        }
        return start < end ? (start, end) : nil
    }
}

/// a t^4 + b t^3 + c t^2 + d t + e.
struct Quartic {
    var a: Double, b: Double, c: Double, d: Double, e: Double

    @inline(__always)
    private func value(_ t: Double) -> Double { (((a * t + b) * t + c) * t + d) * t + e }

    @inline(__always)
    private func slope(_ t: Double) -> Double { ((4 * a * t + 3 * b) * t + 2 * c) * t + d }

    /// The first place in 0...`end` where the value falls to 0 from above; nil if there is none.
    ///
    /// The zeros of the bend split the range into pieces that are bent one way, where a line or
    /// two tangents bound the value.
    func firstFall(upTo end: Double) -> Double? {
        var left = 0.0
        var leftValue = value(0)
        let bends = bends
        for piece in 0..<3 {
            // With a > 0 the first and last piece are bent upward (convex), the middle one not.
            let cut = piece == 0 ? bends.first : piece == 1 ? bends.last : end
            guard cut > left else { continue }
            let right = min(cut, end)
            let rightValue = value(right)
            if leftValue > 0, rightValue <= 0 { return zero(left, right) }
            if leftValue > 0, piece != 1,
                let inside = dip(left, leftValue, right, rightValue)
            {
                return zero(inside.before, inside.at)
            }
            if leftValue <= 0, rightValue <= 0, piece == 1, let top = bump(left, right) {
                return zero(top, right)
            }
            if right >= end { return nil }
            (left, leftValue) = (right, rightValue)
        }
        return nil
    }

    /// Where the bend is 0; both before 0 if nowhere.
    @inline(__always)
    private var bends: (first: Double, last: Double) {
        // 6 a t^2 + 3 b t + c = 0
        let square = 9 * b * b - 24 * a * c
        guard square > 0 else { return (-1, -1) }
        let root = square.squareRoot()
        return ((-3 * b - root) / (12 * a), (-3 * b + root) / (12 * a))
    }

    /// In a convex piece, positive at both ends: a place where the value is not positive, and the
    /// nearest known before it where it falls and still is. Where the tangents at the ends cross,
    /// the value cannot be lower; each round has a nearer pair.
    @inline(__always)
    private func dip(_ from: Double, _ fromValue: Double, _ to: Double, _ toValue: Double)
        -> (before: Double, at: Double)?
    {
        var (low, lowValue, lowSlope) = (from, fromValue, slope(from))
        var (high, highValue, highSlope) = (to, toValue, slope(to))
        for _ in 0..<40 {
            guard lowSlope < 0, highSlope > 0 else { return nil }
            // Counted from the lower end.
            let step =
                (lowValue - highValue + highSlope * (high - low)) / (highSlope - lowSlope)
            guard lowValue + lowSlope * step <= 0 else { return nil }
            let middle = low + step
            guard middle > low, middle < high else { return nil }
            let middleValue = value(middle)
            if middleValue <= 0 { return (low, middle) }
            let middleSlope = slope(middle)
            if middleSlope < 0 {
                (low, lowValue, lowSlope) = (middle, middleValue, middleSlope)
            } else {
                (high, highValue, highSlope) = (middle, middleValue, middleSlope)
            }
        }
        return nil
    }

    /// In the middle piece, not positive at both ends: a place where the value is positive. Only
    /// for a viewer inside the pipe.
    private func bump(_ from: Double, _ to: Double) -> Double? {
        var (low, high) = (from, to)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if value(middle) > 0 { return middle }
            if slope(middle) > 0 { low = middle } else { high = middle }
        }
        return nil
    }

    /// The only zero between a positive place and one that is not: Newton's method, kept between
    /// the two.
    @inline(__always)
    private func zero(_ from: Double, _ to: Double) -> Double {
        var (low, high) = (from, to)
        var t = low
        for _ in 0..<60 {
            let current = value(t)
            if current > 0 { low = t } else { high = t }
            var next = t - current / slope(t)
            // Also catches a slope of 0, where the step is not a number.
            if !(next > low && next < high) { next = (low + high) / 2 }
            // The error after a step is about the square of the step.
            if abs(next - t) <= 1e-6 * to { return next }
            t = next
        }
        return t
    }
}
