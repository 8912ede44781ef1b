/// A solid or a group of a scene.
public enum SceneNode: Hashable, Sendable {
    /// A solid.
    case solid(Solid)
    /// A group of nodes.
    case group(Group)

    /// What people call it; may be empty.
    public var name: String {
        get {
            switch self {
            case .solid(let solid): solid.name
            case .group(let group): group.name
            }
        }
        set {
            switch self {
            case .solid(var solid):
                solid.name = newValue
                self = .solid(solid)
            case .group(var group):
                group.name = newValue
                self = .group(group)
            }
        }
    }

    /// Where it is, how it is turned and stretched.
    public var transform: Transform {
        get {
            switch self {
            case .solid(let solid): solid.transform
            case .group(let group): group.transform
            }
        }
        set {
            switch self {
            case .solid(var solid):
                solid.transform = newValue
                self = .solid(solid)
            case .group(var group):
                group.transform = newValue
                self = .group(group)
            }
        }
    }

    /// Whether it is drawn; of a group that is not, none of the children is.
    public var isVisible: Bool {
        get {
            switch self {
            case .solid(let solid): solid.isVisible
            case .group(let group): group.isVisible
            }
        }
        set {
            switch self {
            case .solid(var solid):
                solid.isVisible = newValue
                self = .solid(solid)
            case .group(var group):
                group.isVisible = newValue
                self = .group(group)
            }
        }
    }
}

/// Nodes that are moved, turned, stretched and hidden together.
public struct Group: Hashable, Sendable {
    /// What people call it; may be empty and need not be unique.
    @Exact public var name: String
    /// What applies to all children after their own transforms.
    public var transform: Transform
    /// The nodes in it, at most `Limits.sceneDepth` groups deep.
    public var children: [SceneNode]
    /// Whether its children are drawn.
    public var isVisible: Bool
    /// The object it was read from; see `Solid.source`. Its children are not in it.
    public var source: JSONObject

    /// A new group.
    public init(
        name: String = "", transform: Transform = Transform(), children: [SceneNode] = [],
        isVisible: Bool = true
    ) {
        self.name = name
        self.transform = transform
        self.children = children
        self.isVisible = isVisible
        source = JSONObject()
    }
}
