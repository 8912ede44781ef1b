/// A point of a slide: x right, y down.
public struct SlidePoint: Hashable, Sendable {
    /// To the right.
    public var x: Double
    /// Down.
    public var y: Double

    /// A point of its two parts.
    public init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }
}

/// How an outline is drawn: the stroke first, then the fill over it.
public struct SlidePaint: Hashable, Sendable {
    /// The width of the stroke; 0 or more.
    public var thickness: Double
    /// The colour of the stroke; black where neither colour was given, nil where only a fill was.
    public var stroke: Color?
    /// The colour of the fill.
    public var fill: Color?

    /// A paint of its parts.
    public init(thickness: Double, stroke: Color?, fill: Color?) {
        self.thickness = thickness
        self.stroke = stroke
        self.fill = fill
    }
}

/// What an element of a slide draws, with all defaults filled in. Numbers are finite, radii not
/// negative; widths and heights may be negative, and coordinates of any magnitude.
public enum SlideShape: Hashable, Sendable {
    /// A line.
    case line(from: SlidePoint, to: SlidePoint, SlidePaint)
    /// A rectangle; it extends to the left or up where its width or height is negative.
    case rectangle(SlideBox, SlidePaint)
    /// A circle.
    case circle(center: SlidePoint, radius: Double, SlidePaint)
    /// Part of a circle, an open path; the fill closes it by the chord.
    case arc(SlideArc, SlidePaint)
    /// The ellipse in a box.
    case ellipse(SlideBox, SlidePaint)
    /// A Bézier curve: quadratic if it has no second control point.
    case curve(SlideCurve, SlidePaint)
    /// Lines and curves, each from the end of the one before.
    case chain([SlideLink])
    /// Text.
    case text(SlideText)
}

/// A box by its corner and size; top left where neither size is negative.
public struct SlideBox: Hashable, Sendable {
    /// The corner that was given.
    public var origin: SlidePoint
    /// The width, to the left where negative.
    public var width: Double
    /// The height, up where negative.
    public var height: Double

    /// A box of its parts.
    public init(origin: SlidePoint, width: Double, height: Double) {
        self.origin = origin
        self.width = width
        self.height = height
    }
}

/// Part of a circle. It runs counter-clockwise from its start to its end, though angles are
/// counted clockwise: 0 to 90 sweeps 270 degrees, 90 to 0 sweeps 90, 0 to 360 a full circle.
public struct SlideArc: Hashable, Sendable {
    /// The centre of the circle.
    public var center: SlidePoint
    /// The radius; not negative.
    public var radius: Double
    /// Where it starts, in degrees clockwise from three o'clock.
    public var startAngle: Double
    /// Where it ends, in degrees clockwise from three o'clock.
    public var endAngle: Double

    /// An arc of its parts.
    public init(center: SlidePoint, radius: Double, startAngle: Double, endAngle: Double) {
        self.center = center
        self.radius = radius
        self.startAngle = startAngle
        self.endAngle = endAngle
    }

    /// How many degrees are swept counter-clockwise, 0 to 360.
    public var sweep: Double {
        var difference = startAngle - endAngle
        if difference == 0 { return 0 }
        if !difference.isFinite {
            // Farther apart than numbers go: where on the circle they are counts all the same.
            difference =
                startAngle.truncatingRemainder(dividingBy: 360)
                - endAngle.truncatingRemainder(dividingBy: 360)
        }
        let remainder = difference.truncatingRemainder(dividingBy: 360)
        // What is not a number counts as a full circle.
        guard remainder.isFinite, remainder != 0 else { return 360 }
        return remainder < 0 ? remainder + 360 : remainder
    }
}

/// A Bézier curve.
public struct SlideCurve: Hashable, Sendable {
    /// Where it starts.
    public var start: SlidePoint
    /// The control point, or the first of two.
    public var control1: SlidePoint
    /// The second control point of a cubic curve; nil for a quadratic one.
    public var control2: SlidePoint?
    /// Where it ends.
    public var end: SlidePoint

    /// A curve of its points.
    public init(
        start: SlidePoint, control1: SlidePoint, control2: SlidePoint?, end: SlidePoint
    ) {
        self.start = start
        self.control1 = control1
        self.control2 = control2
        self.end = end
    }
}

/// A line or curve of a chain, with its own paint.
public enum SlideLink: Hashable, Sendable {
    /// A line.
    case line(from: SlidePoint, to: SlidePoint, SlidePaint)
    /// A curve.
    case curve(SlideCurve, SlidePaint)
}

/// Text in a box.
public struct SlideText: Hashable, Sendable {
    /// How lines stand in the box.
    public enum Alignment: String, CaseIterable, Hashable, Sendable {
        /// At the left edge.
        case left
        /// In the middle.
        case center
        /// At the right edge.
        case right
        /// At both edges.
        case justified
    }

    /// The box; the app clips the text to it.
    public var box: SlideBox
    /// The height of the font, in units of the canvas; more than 0.
    public var fontHeight: Double
    /// The colour of the text.
    public var color: Color
    /// What the app paints behind it; nil for nothing.
    public var background: Color?
    /// How lines stand in the box.
    public var alignment: Alignment
    /// The text, with `\n` between lines.
    public var text: String

    /// A text of its parts.
    public init(
        box: SlideBox, fontHeight: Double, color: Color, background: Color?, alignment: Alignment,
        text: String
    ) {
        self.box = box
        self.fontHeight = fontHeight
        self.color = color
        self.background = background
        self.alignment = alignment
        self.text = text
    }
}
