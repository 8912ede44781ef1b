import CPangoCairo

/// Gives paths to cairo, whose numbers end at 8 million pixels, and which loses lines before. What leaves a
/// wide square around the picture goes along its edges instead: strokes there are not seen, and what is filled
/// is the same within.
struct PathTracer {
    /// How often a curve is halved to find which parts of it are in the square.
    private static let mostHalvings = 48

    let context: OpaquePointer
    /// Pixels for a unit, horizontally and vertically.
    let scaleX: Double
    let scaleY: Double

    /// The path of an outline to be stroked.
    func trace(_ path: Path) {
        cairo_new_path(context)
        var last = Point(0, 0)
        var first = last
        for step in path.steps {
            switch step {
            case .move(let point):
                last = device(point)
                first = last
                let place = Self.held(last)
                cairo_move_to(context, place.x, place.y)
            case .line(let point):
                let end = device(point)
                line(last, end)
                last = end
            case .curve(let control1, let control2, let point):
                let end = device(point)
                curve(last, device(control1), device(control2), end, Self.mostHalvings)
                last = end
            case .close:
                goBack(last, first)
                cairo_close_path(context)
                last = first
            }
        }
    }

    /// Takes a path that was traced, and is open, back to where it began, as filling does.
    func close(_ path: Path) {
        guard case .move(let start)? = path.steps.first, let end = path.end else { return }
        goBack(device(end), device(start))
    }

    /// Where cairo would go straight back, which is right in the square only.
    private func goBack(_ last: Point, _ first: Point) {
        if !Self.isNear(first) || !Self.isNear(last) { line(last, first) }
    }

    /// A place in pixels.
    private func device(_ point: Point) -> Point {
        // Sums of these stay finite.
        func finite(_ value: Double) -> Double {
            value.isNaN ? 0 : min(max(value, -1e300), 1e300)
        }
        return Point(finite(point.x * scaleX), finite(point.y * scaleY))
    }

    private static let reach = PictureLimits.reach

    private static func isNear(_ point: Point) -> Bool {
        max(abs(point.x), abs(point.y)) <= reach
    }

    /// The place of the square that is nearest.
    private static func held(_ point: Point) -> Point {
        Point(min(max(point.x, -reach), reach), min(max(point.y, -reach), reach))
    }

    /// Held all along: what is outside follows the square's edges, around the corners that it goes around.
    private func line(_ start: Point, _ end: Point) {
        if !Self.isNear(start) || !Self.isNear(end) {
            for place in Self.crossings(start, end) {
                cairo_line_to(context, place.x, place.y)
            }
        }
        let place = Self.held(end)
        cairo_line_to(context, place.x, place.y)
    }

    /// Where a line crosses the lines that the square's sides are parts of, in order, each held: between two
    /// of them the held line is straight.
    private static func crossings(_ start: Point, _ end: Point) -> [Point] {
        var parts: [Double] = []
        for (from, to) in [(start.x, end.x), (start.y, end.y)] where from != to {
            for side in [-reach, reach] {
                let part = (side - from) / (to - from)
                if part > 0, part < 1 { parts.append(part) }
            }
        }
        return parts.sorted().map { part in
            held(
                Point(
                    start.x * (1 - part) + end.x * part, start.y * (1 - part) + end.y * part))
        }
    }

    private func curve(_ a: Point, _ b: Point, _ c: Point, _ d: Point, _ halvings: Int) {
        let points = [a, b, c, d]
        if points.allSatisfy(Self.isNear) {
            return cairo_curve_to(context, b.x, b.y, c.x, c.y, d.x, d.y)
        }
        // Not at the edges, along which a curve may run: its halves, and theirs, would all be at both sides.
        let beside = Self.reach / 2
        let isBeside =
            points.allSatisfy { $0.x > beside } || points.allSatisfy { $0.x < -beside }
            || points.allSatisfy { $0.y > beside } || points.allSatisfy { $0.y < -beside }
        guard !isBeside, halvings > 0 else { return line(a, d) }
        func middle(_ p: Point, _ q: Point) -> Point {
            Point(p.x / 2 + q.x / 2, p.y / 2 + q.y / 2)
        }
        let (ab, bc, cd) = (middle(a, b), middle(b, c), middle(c, d))
        let (abc, bcd) = (middle(ab, bc), middle(bc, cd))
        let center = middle(abc, bcd)
        curve(a, ab, abc, center, halvings - 1)
        curve(center, bcd, cd, d, halvings - 1)
    }
}

extension Path {
    /// Where it ends, if it is open.
    fileprivate var end: Point? {
        switch steps.last {
        case .move(let point)?, .line(let point)?, .curve(_, _, let point)?: point
        case .close?, nil: nil
        }
    }
}
