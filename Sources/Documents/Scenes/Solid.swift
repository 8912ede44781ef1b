/// A solid of a scene.
public struct Solid: Hashable, Sendable {
    /// What people call it; may be empty and need not be unique.
    @Exact public var name: String
    /// Its kind and dimensions.
    public var shape: SolidShape
    /// Where it is, how it is turned and stretched.
    public var transform: Transform
    /// Its colour; without one that of its kind. Alpha counts on top of `opacity`.
    public var color: Color?
    /// 0 clear to 1 opaque.
    public var opacity: Double
    /// Whether it is drawn.
    public var isVisible: Bool
    /// The object it was read from, for keys nobody here knows and for the order of all; empty for
    /// a new solid. Where it disagrees with the other properties, those count.
    public var source: JSONObject

    /// A new solid.
    public init(
        name: String = "", shape: SolidShape, transform: Transform = Transform(),
        color: Color? = nil, opacity: Double = 1, isVisible: Bool = true
    ) {
        self.name = name
        self.shape = shape
        self.transform = transform
        self.color = color
        self.opacity = opacity
        self.isVisible = isVisible
        source = JSONObject()
    }

    /// The colour it is drawn in: its own or that of its kind.
    public var effectiveColor: Color { color ?? shape.kind.standardColor }
}

/// Where a solid or group is. It is first scaled, then turned, then moved; a group's transform
/// applies to its children after their own.
public struct Transform: Hashable, Sendable {
    /// Where its origin is, in units of the scene or of the group around it.
    public var position: Vector3
    /// How it is turned about its origin.
    public var rotation: Rotation
    /// How it is stretched along its own axes; every factor is greater than 0.
    public var scale: Vector3

    /// A transform of its parts; without any it changes nothing.
    public init(
        position: Vector3 = .zero, rotation: Rotation = .none, scale: Vector3 = .one
    ) {
        self.position = position
        self.rotation = rotation
        self.scale = scale
    }

    /// Whether it changes nothing.
    public var isIdentity: Bool { position == .zero && rotation.isNone && scale == .one }
}
