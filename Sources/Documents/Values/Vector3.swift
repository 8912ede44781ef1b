/// A point, direction or size in space: x right, y up, z towards the viewer.
public struct Vector3: Hashable, Sendable {
    /// To the right.
    public var x: Double
    /// Up.
    public var y: Double
    /// Towards the viewer.
    public var z: Double

    /// A vector of its three parts.
    public init(_ x: Double, _ y: Double, _ z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The origin.
    public static let zero = Vector3(0, 0, 0)
    /// One in every direction: the scale that changes nothing.
    public static let one = Vector3(1, 1, 1)
}
