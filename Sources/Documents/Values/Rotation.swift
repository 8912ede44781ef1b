/// A turn about an axis through the origin, counter-clockwise when the axis points at the viewer.
///
/// The axis need not have length 1, and is kept as it was given; with an axis of length 0 nothing
/// turns.
public struct Rotation: Hashable, Sendable {
    /// What is turned about; of any length.
    public var axis: Vector3
    /// How far, in degrees.
    public var degrees: Double

    /// A turn of so many degrees about an axis.
    public init(axis: Vector3, degrees: Double) {
        self.axis = axis
        self.degrees = degrees
    }

    /// No turn.
    public static let none = Rotation(axis: .zero, degrees: 0)

    /// Whether nothing turns.
    public var isNone: Bool { degrees == 0 || axis == .zero }
}
