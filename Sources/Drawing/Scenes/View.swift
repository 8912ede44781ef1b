import Documents

/// What a camera sees on a picture of some size: a ray for each place of the picture.
struct View {
    /// Nothing nearer than this is seen, in units of the scene along the line of sight.
    static let near = 0.01

    let eye: Vector
    /// The middle of the picture, 1 away.
    let forward: Vector
    /// One pixel to the right and one down, on the plane 1 away.
    let right: Vector
    let down: Vector
    /// The width of a pixel on the plane 1 away.
    let pixel: Double
    /// The direction through the top left corner of the picture.
    let corner: Vector
    let size: PixelSize

    init(_ camera: Camera, size: PixelSize) {
        let (forward, right, up) = View.axes(camera)
        let degrees = camera.fieldOfView.isFinite ? camera.fieldOfView : 60
        let half = Trigonometry.tangent(
            min(max(degrees, 1), 179) / 2 * Trigonometry.radiansPerDegree)
        // The angle of view is the vertical one, so pixels are square and the width follows.
        let pixel = 2 * half / Double(size.height)
        self.pixel = pixel
        eye = Vector(camera.position)
        self.forward = forward
        self.right = right * pixel
        down = -(up * pixel)
        self.size = size
        corner =
            forward - self.right * (Double(size.width) / 2) - down * (Double(size.height) / 2)
    }

    /// The direction through a place counted in pixels from the top left corner of the picture.
    /// Along it, distances are depths.
    @inline(__always)
    func direction(_ x: Double, _ y: Double) -> Vector {
        corner + right * x + down * y
    }

    /// Directions of length 1.
    static func axes(_ camera: Camera) -> (forward: Vector, right: Vector, up: Vector) {
        switch camera.orientation {
        case .rotation(let rotation):
            let turn = Affine(rotation)
            return (-turn.z, turn.x, turn.y)
        case .target(let target):
            guard let forward = (Vector(target) - Vector(camera.position)).normalized else {
                return (Vector(0, 0, -1), Vector(1, 0, 0), Vector(0, 1, 0))
            }
            // Looking straight up or down: the top of the picture is away from, or towards, the
            // viewer that stands at the origin.
            let right =
                abs(forward.y) < 0.999_999_999
                ? forward.cross(Vector(0, 1, 0)).normalized : Vector(1, 0, 0)
            let side = right ?? Vector(1, 0, 0)
            return (forward, side, side.cross(forward))
        }
    }

    /// The rectangle of pixels that a box covers (at least), and the smallest depth in it; nil if
    /// all of it is behind the viewer or beside the picture.
    func cover(_ place: Affine, _ bounds: (low: Vector, high: Vector)) -> Cover? {
        var (left, top) = (Double.infinity, Double.infinity)
        var (rightmost, bottom) = (-Double.infinity, -Double.infinity)
        var (nearest, farthest) = (Double.infinity, -Double.infinity)
        let (pixelRight, pixelDown) = (right.dot(right), down.dot(down))
        for corner in 0..<8 {
            let p =
                place.point(
                    Vector(
                        corner & 1 == 0 ? bounds.low.x : bounds.high.x,
                        corner & 2 == 0 ? bounds.low.y : bounds.high.y,
                        corner & 4 == 0 ? bounds.low.z : bounds.high.z)) - eye
            let depth = p.dot(forward)
            nearest = min(nearest, depth)
            farthest = max(farthest, depth)
            let x = p.dot(right) / pixelRight / depth + Double(size.width) / 2
            let y = p.dot(down) / pixelDown / depth + Double(size.height) / 2
            (left, rightmost) = (min(left, x), max(rightmost, x))
            (top, bottom) = (min(top, y), max(bottom, y))
        }
        guard farthest >= View.near else { return nil }
        let all = PixelRectangle(x: 0..<size.width, y: 0..<size.height)
        guard nearest > View.near, left.isFinite, top.isFinite, rightmost.isFinite, bottom.isFinite
        else { return Cover(pixels: all, nearest: View.near, farthest: farthest) }
        // A pixel more on each side, for rounding and for the rays beside the middle.
        func clamped(_ value: Double, _ limit: Int) -> Int {
            Int(min(max(value, 0), Double(limit)))
        }
        let columns =
            clamped(
                (left - 1).rounded(.down), size.width)..<clamped(
                max((rightmost + 1).rounded(.up), left), size.width)
        let rows =
            clamped(
                (top - 1).rounded(.down), size.height)..<clamped(
                max((bottom + 1).rounded(.up), top), size.height)
        guard !columns.isEmpty, !rows.isEmpty else { return nil }
        return Cover(
            pixels: PixelRectangle(x: columns, y: rows), nearest: nearest, farthest: farthest)
    }
}

/// Where a solid may be seen.
struct Cover {
    var pixels: PixelRectangle
    /// No point of the solid is less deep.
    var nearest: Double
    /// No point of the solid is deeper.
    var farthest: Double
}

/// Columns and rows of a picture.
struct PixelRectangle: Equatable {
    var x: Range<Int>
    var y: Range<Int>
}

extension Affine {
    /// A turn about an axis.
    init(_ rotation: Rotation) {
        self.init(
            axis: Vector(rotation.axis), angle: rotation.degrees * Trigonometry.radiansPerDegree)
    }
}

extension Vector {
    /// The same numbers.
    init(_ vector: Vector3) { self.init(vector.x, vector.y, vector.z) }
}
