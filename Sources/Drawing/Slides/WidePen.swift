import Documents

/// Circles and ellipses that are drawn with a pen wider than they are, as dots are. Cairo, and others that
/// read SVG, stroke between a line outside and one inside of the path; the inner one has passed the
/// centre then, and a hole is left around it. So what such a pen covers is a path to be filled.
extension Path {
    /// What a pen covers that goes along part of a circle; nil if that can be stroked.
    init?(sweptAlong center: Point, radius: Double, start: Double, sweep: Double, width: Double) {
        let (outer, inner) = (width / 2 + radius, width / 2 - radius)
        guard radius > 0, inner > 0, outer.isFinite else { return nil }
        guard abs(sweep) < 360 else {
            self.init(
                center: center, radiusX: outer, radiusY: outer, start: 0, sweep: 360,
                isClosed: true)
            return
        }
        self.init(sectorAt: center, radius: outer, start: start, sweep: sweep)
        // Beyond the centre.
        append(Path(sectorAt: center, radius: inner, start: start + 180, sweep: sweep))
    }

    /// What a pen covers that goes along an ellipse; nil if that can be stroked.
    init?(sweptAlong center: Point, radiusX: Double, radiusY: Double, width: Double) {
        let pen = width / 2
        guard min(radiusX, radiusY) > 0, pen > min(radiusX, radiusY),
            (max(radiusX, radiusY) + pen).isFinite
        else { return nil }
        guard radiusX != radiusY else {
            self.init(
                sweptAlong: center, radius: radiusX, start: 0, sweep: 360, width: width)
            return
        }
        self.init()
        let quarter = Self.quarter(radiusX, radiusY, pen)
        move(Point(center.x + quarter[0].x, center.y + quarter[0].y))
        // Clockwise from three o'clock.
        for (index, (across, down)) in [(1.0, 1.0), (-1, 1), (-1, -1), (1, -1)].enumerated() {
            let points = (index % 2 == 0 ? quarter : quarter.reversed()).map {
                Point(center.x + across * $0.x, center.y + down * $0.y)
            }
            for end in stride(from: 3, to: points.count, by: 3) {
                curve(points[end - 2], points[end - 1], points[end])
            }
        }
        close()
    }

    /// The edge of what a pen covers outside of an ellipse about the origin, from the right to below: points
    /// of it, each with two control points before the next. They are at even steps of where the ellipse
    /// bends, and at even turns of the pen.
    private static func quarter(_ radiusX: Double, _ radiusY: Double, _ pen: Double) -> [Point] {
        let pieces = 8
        var places: [Point] = []
        for piece in 0...pieces {
            let angle = 90 * Double(piece) / Double(pieces) * Trigonometry.radiansPerDegree
            let (sine, cosine) = Trigonometry.sineAndCosine(angle)
            places.append(Point(cosine, sine))
            places.append(Point(radiusX * cosine, radiusY * sine).ofLengthOne)
        }
        var points: [Point] = []
        var last: (point: Point, turn: Point)?
        for place in places.sorted(by: { $0.y < $1.y }) {
            let turn = Point(radiusY * place.x, radiusX * place.y).ofLengthOne
            let point = Point(
                radiusX * place.x + pen * turn.x, radiusY * place.y + pen * turn.y)
            if let last {
                // As of an arc of a circle through both.
                let (x, y) = (point.x - last.point.x, point.y - last.point.y)
                let handle = (x * x + y * y).squareRoot() / 3
                points.append(
                    Point(
                        last.point.x - handle * last.turn.y, last.point.y + handle * last.turn.x))
                points.append(Point(point.x + handle * turn.y, point.y - handle * turn.x))
            }
            points.append(point)
            last = (point, turn)
        }
        return points
    }

    private init(sectorAt center: Point, radius: Double, start: Double, sweep: Double) {
        self.init(center: center, radiusX: radius, radiusY: radius, start: start, sweep: sweep)
        line(center)
        close()
    }
}

extension Outline {
    /// A path with its paint, where the pen covers what is given instead of what stroking it would.
    static func all(_ path: Path, covered: Path?, _ paint: SlidePaint, _ opacity: Double) -> [Self]
    {
        guard let covered, let stroke = paint.stroke else {
            return [Outline(path, paint, opacity)]
        }
        var outlines = [
            Outline(
                path: covered, thickness: paint.thickness, fill: stroke, opacity: opacity)
        ]
        if let fill = paint.fill {
            outlines.append(
                Outline(path: path, thickness: paint.thickness, fill: fill, opacity: opacity))
        }
        return outlines
    }
}

extension Point {
    /// What is as long as 1 in its direction; itself if its length is no number.
    fileprivate var ofLengthOne: Point {
        let length = (x * x + y * y).squareRoot()
        return length > 0 && length.isFinite ? Point(x / length, y / length) : self
    }
}
