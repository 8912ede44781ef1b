/// A solid's kind with its dimensions, in units of the scene. All but the pyramid have their
/// origin at their centre.
public enum SolidShape: Hashable, Sendable {
    /// A ball.
    case sphere(radius: Double)
    /// A box along x, y and z; its edges and corners are rounded by a radius of at most half of
    /// the smallest side (a greater one counts as that).
    case cube(width: Double, height: Double, depth: Double, roundedEdge: Double)
    /// A cylinder about the y axis.
    case cylinder(radius: Double, height: Double)
    /// A frustum about the y axis; with a top radius of 0 a cone.
    case cone(topRadius: Double, bottomRadius: Double, height: Double)
    /// A ring about the y axis: the radius of the circle in its middle, and that of its pipe.
    case torus(ringRadius: Double, pipeRadius: Double)
    /// A pyramid whose base lies in the plane of x and z with its centre at the origin.
    case pyramid(width: Double, height: Double, depth: Double)

    /// The shape of a kind with the original app's dimensions.
    public init(_ kind: SolidKind) {
        switch kind {
        case .sphere: self = .sphere(radius: 1)
        case .cube: self = .cube(width: 2, height: 2, depth: 2, roundedEdge: 0.1)
        case .cylinder: self = .cylinder(radius: 0.75, height: 2)
        case .cone: self = .cone(topRadius: 0.5, bottomRadius: 1.5, height: 1.5)
        case .torus: self = .torus(ringRadius: 1, pipeRadius: 0.2)
        case .pyramid: self = .pyramid(width: 1.5, height: 1.5, depth: 1.5)
        }
    }

    /// Which of the six it is.
    public var kind: SolidKind {
        switch self {
        case .sphere: .sphere
        case .cube: .cube
        case .cylinder: .cylinder
        case .cone: .cone
        case .torus: .torus
        case .pyramid: .pyramid
        }
    }
}

extension SolidShape {
    /// A dimension by its name in documents.
    public struct Dimension: Hashable, Sendable {
        /// The key in documents and on the command line, such as `radius`.
        public let name: String
        /// The length, in units of the scene.
        public let value: Double
        /// Whether 0 is allowed.
        public let mayBeZero: Bool

        init(_ name: String, _ value: Double, mayBeZero: Bool = false) {
            self.name = name
            self.value = value
            self.mayBeZero = mayBeZero
        }

        /// Whether a length is one this dimension can have.
        public func allows(_ value: Double) -> Bool {
            (mayBeZero ? value >= 0 : value > 0) && value <= Limits.sceneNumber
        }
    }

    /// The dimensions in the order documents write them.
    public var dimensions: [Dimension] {
        switch self {
        case .sphere(let radius):
            [Dimension("radius", radius)]
        case .cube(let width, let height, let depth, let edge):
            [
                Dimension("width", width), Dimension("height", height), Dimension("depth", depth),
                Dimension("roundedEdge", edge, mayBeZero: true),
            ]
        case .cylinder(let radius, let height):
            [Dimension("radius", radius), Dimension("height", height)]
        case .cone(let top, let bottom, let height):
            [
                Dimension("topRadius", top, mayBeZero: true),
                Dimension("bottomRadius", bottom, mayBeZero: true), Dimension("height", height),
            ]
        case .torus(let ring, let pipe):
            [Dimension("ringRadius", ring), Dimension("pipeRadius", pipe)]
        case .pyramid(let width, let height, let depth):
            [Dimension("width", width), Dimension("height", height), Dimension("depth", depth)]
        }
    }

    /// The same kind with one dimension changed; nil if it has none of that name or the dimension
    /// cannot have that value.
    public func setting(_ name: String, to value: Double) -> SolidShape? {
        guard let dimension = dimensions.first(where: { $0.name == name }), dimension.allows(value)
        else { return nil }
        func of(_ other: String, _ old: Double) -> Double { other == name ? value : old }
        switch self {
        case .sphere: return .sphere(radius: value)
        case .cube(let width, let height, let depth, let edge):
            return .cube(
                width: of("width", width), height: of("height", height), depth: of("depth", depth),
                roundedEdge: of("roundedEdge", edge))
        case .cylinder(let radius, let height):
            return .cylinder(radius: of("radius", radius), height: of("height", height))
        case .cone(let top, let bottom, let height):
            return .cone(
                topRadius: of("topRadius", top), bottomRadius: of("bottomRadius", bottom),
                height: of("height", height))
        case .torus(let ring, let pipe):
            return .torus(ringRadius: of("ringRadius", ring), pipeRadius: of("pipeRadius", pipe))
        case .pyramid(let width, let height, let depth):
            return .pyramid(
                width: of("width", width), height: of("height", height), depth: of("depth", depth))
        }
    }
}
