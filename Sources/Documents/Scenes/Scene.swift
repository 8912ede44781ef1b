/// A `.shape` document: solids and groups of solids, a camera and a background.
///
/// A pure value. What is read is checked: numbers are finite and within `Limits`, so drawing need
/// not look again. Keys that nobody here knows stay where they were.
public struct Scene: Hashable, Sendable {
    /// The version of the format this program writes and the newest it reads.
    public static let currentVersion = 1

    /// The version of the format.
    public var version: Int
    /// What the document is called, apart from the name of its file.
    @Exact public var title: String?
    /// What is behind the solids; without one, what `Drawing` chooses.
    public var background: Color?
    /// Who looks at it.
    public var camera: Camera
    /// The solids and groups, in the order they were made.
    public var nodes: [SceneNode]
    /// The object it was read from; see `Solid.source`. Its nodes are not in it.
    public var source: JSONObject

    /// A new scene.
    public init(
        title: String? = nil, background: Color? = nil, camera: Camera = Camera(),
        nodes: [SceneNode] = []
    ) {
        version = Scene.currentVersion
        self.title = title
        self.background = background
        self.camera = camera
        self.nodes = nodes
        source = JSONObject()
    }
}
