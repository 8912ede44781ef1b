/// Where a ray meets a solid.
struct Meeting {
    /// Along the ray.
    var distance: Double
    /// 0.3 to 1.
    var light: Double
    /// Which smooth part of the surface.
    var face: UInt8
}

/// A solid made ready for the rays of one view.
struct CastSolid {
    let body: Body
    let cover: Cover
    /// The eye in the solid's space, and the directions of the view there.
    let origin: Vector
    let corner: Vector
    let right: Vector
    let down: Vector
    /// The map back from the scene, for normals.
    let inverse: Affine
    let red: Double, green: Double, blue: Double
    let opacity: Double

    /// Nil if nothing of the solid can be seen.
    init?(_ solid: SolidPlacement, _ view: View) {
        guard let inverse = solid.place.inverse,
            let cover = view.cover(solid.place, solid.body.bounds)
        else { return nil }
        body = solid.body
        self.cover = cover
        origin = inverse.point(view.eye)
        corner = inverse.direction(view.corner)
        right = inverse.direction(view.right)
        down = inverse.direction(view.down)
        self.inverse = inverse
        (red, green, blue) = (
            Double(solid.color.red), Double(solid.color.green), Double(solid.color.blue)
        )
        opacity = solid.opacity
    }

    /// Where the ray through a place of the picture meets the solid, and how much light it sends
    /// back: 0.3 from all around and 0.7 from a lamp at the camera.
    func meet(_ x: Double, _ y: Double, _ view: View) -> Meeting? {
        meet(x, y, view) { [body] ray in body.entry(ray, near: View.near) }
    }

    /// The same, with a function that knows which body it is.
    @inline(__always)
    private func meet(_ x: Double, _ y: Double, _ view: View, _ enter: (Ray) -> Entry?)
        -> Meeting?
    {
        let ray = Ray(origin: origin, direction: corner + right * x + down * y)
        guard let entry = enter(ray) else { return nil }
        // The cosine in the scene's space: the product n . d is the same in both spaces.
        let direction = view.direction(x, y)
        let normal = inverse.normal(entry.normal)
        let square = normal.dot(normal) * direction.dot(direction)
        let facing = -entry.normal.dot(ray.direction) / square.squareRoot()
        // Written so that what is not a number counts as 0.
        let lamp = facing > 0 ? (facing < 1 ? facing : 1) : 0
        return Meeting(distance: entry.distance, light: 0.3 + 0.7 * lamp, face: entry.face)
    }

    /// Draws a row of an opaque solid where it is nearer than what is there.
    func cast(_ y: Double, _ view: View, surface: UInt32, into row: SampleRow) {
        let near = View.near
        // Chosen once for the row, so that each loop is made for one kind of body.
        switch body {
        case .sphere(let radius):
            cast(y, view, surface, row) { Round.sphere($0, .zero, radius, near) }
        case .box(let half, let edge):
            cast(y, view, surface, row) { Boxes.entry($0, half, edge, near) }
        case .cylinder(let radius, let height):
            cast(y, view, surface, row) { Round.frustum($0, radius, radius, height, near) }
        case .cone(let top, let bottom, let height):
            cast(y, view, surface, row) { Round.frustum($0, top, bottom, height, near) }
        case .torus(let ring, let pipe):
            cast(y, view, surface, row) { Torus.entry($0, ring, pipe, near) }
        case .pyramid(let width, let height, let length):
            cast(y, view, surface, row) { Pyramid.entry($0, width, height, length, near) }
        }
    }

    @inline(__always)
    private func cast(
        _ y: Double, _ view: View, _ surface: UInt32, _ row: SampleRow,
        _ enter: (Ray) -> Entry?
    ) {
        let columns = cover.pixels.x
        row.update(columns) { x, depth in
            guard cover.nearest <= depth, let met = meet(Double(x) + 0.5, y, view, enter),
                met.distance < depth
            else { return nil }
            let sample = Sample(color: color(met.light), surfaces: surface | UInt32(met.face))
            return (sample, met.distance)
        }
    }

    /// What is seen of it in some light.
    @inline(__always)
    func color(_ light: Double) -> UInt32 {
        0xFF00_0000 | channel(red * light) << 16 | channel(green * light) << 8
            | channel(blue * light)
    }

    /// 0 to 255, rounded: in a double above 2^52 the last bits are the ones. Without the checks of
    /// a conversion, which cost more than the rest.
    @inline(__always)
    private func channel(_ value: Double) -> UInt32 {
        UInt32(truncatingIfNeeded: (value + 0x1p52).bitPattern) & 0xFF
    }
}
