import Documents

/// What is painted, in the units of a canvas: x right, y down. Slides and lists become marks, and
/// marks become pixels, PDF or SVG.
enum Mark: Equatable {
    case outline(Outline)
    case text(TextBlock)
}

/// Marks with the canvas they are on.
struct Sheet {
    var width: Double
    var height: Double
    var background: Color
    /// Those painted first come first. They may be made as they are gone through, each time anew.
    var marks: AnySequence<Mark>
    /// What fonts its texts need.
    var fonts = SheetFonts()
}

/// A path with its paint: first the stroke, then the fill over it.
struct Outline: Equatable {
    var path: Path
    var stroke: Color?
    /// The width of the stroke; its ends are cut off straight.
    var thickness = 0.0
    var fill: Color?
    /// 0 clear to 1 opaque; applies to stroke and fill each.
    var opacity = 1.0
}

/// Lines and cubic curves.
struct Path: Equatable {
    enum Step: Equatable {
        case move(Point)
        case line(Point)
        case curve(Point, Point, Point)
        case close
    }

    private(set) var steps: [Step] = []
    /// All points, control points included, are within.
    private(set) var low = Point(.infinity, .infinity)
    private(set) var high = Point(-.infinity, -.infinity)

    mutating func move(_ point: Point) { add(.move(point), point) }
    mutating func line(_ point: Point) { add(.line(point), point) }
    mutating func close() { steps.append(.close) }

    /// Another one after it, which is a part of its own.
    mutating func append(_ other: Path) {
        steps += other.steps
        low = Point(Swift.min(low.x, other.low.x), Swift.min(low.y, other.low.y))
        high = Point(Swift.max(high.x, other.high.x), Swift.max(high.y, other.high.y))
    }

    mutating func curve(_ control1: Point, _ control2: Point, _ end: Point) {
        add(.curve(control1, control2, end), control1, control2, end)
    }

    private mutating func add(_ step: Step, _ points: Point...) {
        steps.append(step)
        for point in points {
            low = Point(Swift.min(low.x, point.x), Swift.min(low.y, point.y))
            high = Point(Swift.max(high.x, point.x), Swift.max(high.y, point.y))
        }
    }

    /// Part of an ellipse whose axes lie along x and y. Angles are in degrees, clockwise (y is
    /// down) from three o'clock; a negative sweep runs counter-clockwise.
    init(
        center: Point, radiusX: Double, radiusY: Double, start: Double, sweep: Double,
        isClosed: Bool = false
    ) {
        // An eighth of a circle as a cubic curve is off by 4 millionths of the radius.
        let pieces = max(1, Int((abs(sweep) / 45).rounded(.up)))
        let step = sweep / Double(pieces) * Trigonometry.radiansPerDegree
        let handle = 4.0 / 3 * Trigonometry.tangent(step / 4)
        func place(_ cosine: Double, _ sine: Double) -> Point {
            Point(center.x + radiusX * cosine, center.y + radiusY * sine)
        }
        let origin = start * Trigonometry.radiansPerDegree
        var (sine, cosine) = Trigonometry.sineAndCosine(origin)
        move(place(cosine, sine))
        for piece in 1...pieces {
            let (nextSine, nextCosine) = Trigonometry.sineAndCosine(origin + step * Double(piece))
            curve(
                place(cosine - handle * sine, sine + handle * cosine),
                place(nextCosine + handle * nextSine, nextSine - handle * nextCosine),
                place(nextCosine, nextSine))
            (sine, cosine) = (nextSine, nextCosine)
        }
        if isClosed { close() }
    }

    /// A rectangle, by any two opposite corners.
    init(_ corner: Point, _ opposite: Point) {
        move(corner)
        line(Point(opposite.x, corner.y))
        line(opposite)
        line(Point(corner.x, opposite.y))
        close()
    }

    init() {}
}

/// A place on a canvas.
struct Point: Equatable {
    var x: Double
    var y: Double

    init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }
}

/// Text in a box, broken into lines when it is set.
struct TextBlock: Equatable {
    /// Where lines are in the box.
    enum Alignment: Equatable {
        /// Where their paragraph begins: from right to left that is at the right.
        case natural
        case left, center, right, justified
    }

    /// Where lines end.
    enum Wrapping: Equatable {
        /// As Pango breaks them, also within words too long for a line.
        case anywhere
        /// Only at blanks, and never before the last word ahead of a line end, as the web editor
        /// of Geometry Stash breaks them.
        case atBlanks
        /// Only at line ends; what is too long for the box ends in an ellipsis.
        case ellipsis
    }

    var text: String
    var left: Double
    var top: Double
    var width: Double
    var height: Double
    var fontHeight: Double
    var color: Color
    var opacity = 1.0
    var alignment = Alignment.natural
    /// The distance of baselines.
    var pitch: Double
    /// The first baseline below the top.
    var ascent: Double
    var wrapping = Wrapping.anywhere
    /// Whether the box hides what is outside.
    var isClipped = true
    var isBold = false
}
