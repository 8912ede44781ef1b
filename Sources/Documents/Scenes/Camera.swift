/// Who looks at a scene.
public struct Camera: Hashable, Sendable {
    /// How the camera is turned.
    public enum Orientation: Hashable, Sendable {
        /// It looks at a point, with y up as far as that can be.
        case target(Vector3)
        /// It looks against the z axis with y up, and is then turned.
        case rotation(Rotation)
    }

    /// Where it is, in units of the scene.
    public var position: Vector3
    /// What it looks at.
    public var orientation: Orientation
    /// The vertical angle of view in degrees, at least 1 and at most 179.
    public var fieldOfView: Double
    /// The object it was read from; see `Solid.source`.
    public var source: JSONObject

    /// A camera; without arguments the original app's.
    public init(
        position: Vector3 = Camera.standardPosition,
        orientation: Orientation = .rotation(.none),
        fieldOfView: Double = Camera.standardFieldOfView
    ) {
        self.position = position
        self.orientation = orientation
        self.fieldOfView = fieldOfView
        source = JSONObject()
    }

    /// Where the original app puts it.
    public static let standardPosition = Vector3(0, 0, 4)
    /// The original app's vertical angle of view, in degrees.
    public static let standardFieldOfView = 60.0
}
