/// The shape of a solid in its own space, y up. All but the pyramid are centred at the origin; the
/// pyramid's origin is the centre of its base.
///
/// Lengths are positive and finite, or 0 where a case allows it.
enum Body: Sendable, Equatable {
    case sphere(radius: Double)
    /// `edge` is the radius of the rounded edges, 0 for sharp ones, at most the smallest half side.
    case box(half: Vector, edge: Double)
    case cylinder(radius: Double, halfHeight: Double)
    /// One of the radii may be 0.
    case cone(top: Double, bottom: Double, halfHeight: Double)
    /// The ring lies flat (about y); the pipe may be thicker than the ring's radius.
    case torus(ring: Double, pipe: Double)
    case pyramid(halfWidth: Double, height: Double, halfLength: Double)

    /// The box around it, along its own axes.
    var bounds: (low: Vector, high: Vector) {
        switch self {
        case .sphere(let radius): symmetric(Vector(radius, radius, radius))
        case .box(let half, _): symmetric(half)
        case .cylinder(let radius, let halfHeight):
            symmetric(Vector(radius, halfHeight, radius))
        case .cone(let top, let bottom, let halfHeight):
            symmetric(Vector(max(top, bottom), halfHeight, max(top, bottom)))
        case .torus(let ring, let pipe): symmetric(Vector(ring + pipe, pipe, ring + pipe))
        case .pyramid(let halfWidth, let height, let halfLength):
            (Vector(-halfWidth, 0, -halfLength), Vector(halfWidth, height, halfLength))
        }
    }

    /// The smallest radius of an outline without corners, from wherever it is seen; nil if there
    /// may be corners.
    var roundness: Double? {
        switch self {
        case .sphere(let radius): radius
        case .torus(_, let pipe): pipe
        default: nil
        }
    }

    private func symmetric(_ half: Vector) -> (low: Vector, high: Vector) { (-half, half) }
}

/// Where a ray enters a body.
struct Entry {
    /// In units of the ray's direction.
    var distance: Double
    /// Points outward; its length is not 1.
    var normal: Vector
    /// Which smooth part of the surface: two parts meet at a crease.
    var face: UInt8
    /// Which piece of the surface: pieces may go on into each other smoothly, as the flat sides of
    /// a box into its rounded edges.
    var part: UInt8

    /// A face of one piece, unless a part is given.
    @inline(__always)
    init(distance: Double, normal: Vector, face: UInt8, part: UInt8? = nil) {
        self.distance = distance
        self.normal = normal
        self.face = face
        self.part = part ?? face
    }
}

/// A ray in a body's own space; the direction's length is not 1.
struct Ray {
    var origin: Vector
    var direction: Vector

    @inline(__always)
    func at(_ distance: Double) -> Vector { origin + direction * distance }
}

extension Body {
    /// The nearest place, beyond `near`, where the ray comes in from outside. Places where it
    /// leaves do not count: the inside of a surface is not seen.
    @inline(__always)
    func entry(_ ray: Ray, near: Double) -> Entry? {
        switch self {
        case .sphere(let radius): Round.sphere(ray, .zero, radius, near)
        case .box(let half, let edge): Boxes.entry(ray, half, edge, near)
        case .cylinder(let radius, let halfHeight):
            Round.frustum(ray, radius, radius, halfHeight, near)
        case .cone(let top, let bottom, let halfHeight):
            Round.frustum(ray, top, bottom, halfHeight, near)
        case .torus(let ring, let pipe): Torus.entry(ray, ring, pipe, near)
        case .pyramid(let halfWidth, let height, let halfLength):
            Pyramid.entry(ray, halfWidth, height, halfLength, near)
        }
    }
}
