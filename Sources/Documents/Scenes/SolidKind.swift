/// The six solids, numbered as in `.shapeFile` documents.
public enum SolidKind: Int, CaseIterable, Hashable, Sendable {
    /// A ball.
    case sphere = 0
    /// A box with rounded edges.
    case cube = 1
    /// A cylinder that stands upright.
    case cylinder = 2
    /// A cone, or a frustum of one, that stands upright.
    case cone = 3
    /// A ring that lies flat.
    case torus = 4
    /// A pyramid over a rectangle, its origin at the centre of the base.
    case pyramid = 5

    /// The name in documents and on the command line.
    public var name: String {
        switch self {
        case .sphere: "sphere"
        case .cube: "cube"
        case .cylinder: "cylinder"
        case .cone: "cone"
        case .torus: "torus"
        case .pyramid: "pyramid"
        }
    }

    /// What a solid of the kind is called if nobody says otherwise.
    public var standardName: String { name.prefix(1).uppercased() + name.dropFirst() }

    /// The kind of a name, in any case.
    public init?(name: String) {
        let lower = name.lowercased()
        guard let kind = SolidKind.allCases.first(where: { $0.name == lower }) else { return nil }
        self = kind
    }

    /// The colour of a solid that was given none, as the original app shows it.
    public var standardColor: Color {
        switch self {
        case .sphere: Color(red: 253, green: 61, blue: 57)
        case .cube: Color(red: 60, green: 171, blue: 219)
        case .cylinder: Color(red: 83, green: 216, blue: 106)
        case .cone: Color(red: 89, green: 91, blue: 212)
        case .torus: Color(red: 255, green: 204, blue: 0)
        case .pyramid: Color(red: 254, green: 149, blue: 38)
        }
    }
}
