import Documents
import Glibc

/// A turn in space as a unit quaternion.
struct Turn {
    private var w: Double
    private var v: Vector3

    /// The turn of a rotation.
    init(_ rotation: Rotation) {
        // Scaled first, so that squares of long axes stay finite.
        let greatest = max(
            rotation.axis.x.magnitude, rotation.axis.y.magnitude, rotation.axis.z.magnitude)
        let axis = greatest > 0 ? rotation.axis / greatest : .zero
        let length = axis.length
        guard length > 0 else {
            (w, v) = (1, .zero)
            return
        }
        let half = (rotation.degrees.truncatingRemainder(dividingBy: 720) * .pi / 180) / 2
        w = cos(half)
        v = axis * (sin(half) / length)
    }

    private init(w: Double, v: Vector3) {
        self.w = w
        self.v = v
    }

    /// The turn as an axis of length 1 and degrees from 0 to 180.
    var rotation: Rotation {
        let sign = w < 0 ? -1.0 : 1.0
        let length = v.length
        guard length > 1e-12 else { return .none }
        let degrees = 2 * atan2(length, w * sign) * 180 / .pi
        return Rotation(axis: (v * (sign / length)).tidy, degrees: degrees.tidy)
    }

    /// First the right turn, then the left.
    static func * (left: Turn, right: Turn) -> Turn {
        Turn(
            w: left.w * right.w - left.v.dot(right.v),
            v: left.v * right.w + right.v * left.w + left.v.cross(right.v))
    }

    /// A point turned about the origin.
    func callAsFunction(_ point: Vector3) -> Vector3 {
        let once = v.cross(point) * 2
        return point + once * w + v.cross(once)
    }
}
