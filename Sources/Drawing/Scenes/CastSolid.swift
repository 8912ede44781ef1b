/// Where a ray meets a solid.
struct Meeting {
    /// Along the ray.
    var distance: Double
    /// 0.3 to 1.
    var light: Double
    /// Which smooth part of the surface.
    var face: UInt8
    /// Which piece of that, see ``Entry/part``.
    var part: UInt8
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
    /// Pixels of a row that are empty if both ends and the middle are; 0 if that cannot be told.
    let longestGap: Int

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
        // The largest length in the solid's space that a pixel may have.
        let footprint =
            (right.dot(right) + down.dot(down)).squareRoot() * cover.farthest
        // A solid that is stretched is less round somewhere.
        let roundness = inverse.keepsProportions ? solid.body.roundness ?? 0 : 0
        longestGap = Stretch.longestGap(besides: roundness / footprint)
    }

    /// Where the ray through a place of the picture meets the solid, and how much light it sends
    /// back: 0.3 from all around and 0.7 from a lamp at the camera.
    func meet(_ x: Double, _ y: Double, _ view: View) -> Meeting? {
        meet(x, y, view) { [body] ray in body.entry(ray, near: View.near) }
    }

    /// Where the same ray comes into the solid once more, behind where it was met first. Only a ring is
    /// left and met again by one ray.
    func meetBehind(_ first: Meeting, _ x: Double, _ y: Double, _ view: View) -> Meeting? {
        guard case .torus(let ring, let pipe) = body else { return nil }
        return meet(x, y, view) { ray in
            // Beyond the error of the first place, or it would be found again.
            let step = Self.leastDepth * (ring + pipe) / ray.direction.length
            return Torus.entry(ray, ring, pipe, first.distance + step)
        }
    }

    /// What is thinner along a ray is not told from where the ray meets it, in sizes of the solid.
    private static let leastDepth = 1e-4

    /// As `meet`, with a function that knows which body it is.
    @inline(__always)
    func meet(_ x: Double, _ y: Double, _ view: View, _ enter: (Ray) -> Entry?)
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
        return Meeting(
            distance: entry.distance, light: 0.3 + 0.7 * lamp, face: entry.face, part: entry.part)
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
