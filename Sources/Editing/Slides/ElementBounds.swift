import Documents
import Glibc

/// A rectangle around something, upright.
struct Bounds: Hashable {
    var minX: Double
    var minY: Double
    var maxX: Double
    var maxY: Double

    init(_ points: [SlidePoint]) {
        minX = points.map(\.x).min() ?? 0
        minY = points.map(\.y).min() ?? 0
        maxX = points.map(\.x).max() ?? 0
        maxY = points.map(\.y).max() ?? 0
    }

    var width: Double { maxX - minX }
    var height: Double { maxY - minY }
    var midX: Double { minX + width / 2 }
    var midY: Double { minY + height / 2 }
}

extension SlideElement {
    /// The box around its outline, strokes not counted. An error if it draws nothing.
    func bounds() throws(EditError) -> Bounds {
        let (shape, problems) = interpreted()
        guard let shape else {
            let why = problems.first.map { " (\($0))" } ?? ""
            throw EditError(.data, "it draws nothing\(why)")
        }
        return Bounds(shape.extremes)
    }
}

extension SlideShape {
    /// Points whose box is that around the outline.
    fileprivate var extremes: [SlidePoint] {
        switch self {
        case .line(let from, let to, _): [from, to]
        case .rectangle(let box, _), .ellipse(let box, _): box.corners
        case .circle(let center, let radius, _):
            [
                SlidePoint(center.x - radius, center.y - radius),
                SlidePoint(center.x + radius, center.y + radius),
            ]
        case .arc(let arc, _): arc.extremes
        case .curve(let curve, _): curve.extremes
        case .chain(let links):
            links.flatMap { link in
                switch link {
                case .line(let from, let to, _): [from, to]
                case .curve(let curve, _): curve.extremes
                }
            }
        case .text(let text): text.box.corners
        }
    }
}

extension SlideBox {
    fileprivate var corners: [SlidePoint] {
        [origin, SlidePoint(origin.x + width, origin.y + height)]
    }
}

extension SlideArc {
    /// Its ends, and where it crosses the axes of its circle.
    fileprivate var extremes: [SlidePoint] {
        let sweep = sweep
        var angles = [startAngle, startAngle - sweep]
        for quarter in [0.0, 90, 180, 270] {
            // Counter-clockwise from the start, as the arc runs.
            var way = (startAngle - quarter).truncatingRemainder(dividingBy: 360)
            if way < 0 { way += 360 }
            if way <= sweep { angles.append(quarter) }
        }
        return angles.map { angle in
            let radians = angle.truncatingRemainder(dividingBy: 360) * .pi / 180
            return SlidePoint(
                (center.x + radius * cos(radians)).tidy, (center.y + radius * sin(radians)).tidy)
        }
    }
}

extension SlideCurve {
    /// Its ends, and where it turns back in x or y.
    fileprivate var extremes: [SlidePoint] {
        let first = SlideCurve.turns(start.x, control1.x, control2?.x, end.x)
        let second = SlideCurve.turns(start.y, control1.y, control2?.y, end.y)
        return [start, end] + (first + second).map { point(at: $0) }
    }

    private func point(at time: Double) -> SlidePoint {
        func value(_ a: Double, _ b: Double, _ c: Double?, _ d: Double) -> Double {
            let rest = 1 - time
            guard let c else { return rest * rest * a + 2 * rest * time * b + time * time * d }
            let ends = rest * rest * rest * a + time * time * time * d
            return ends + 3 * rest * time * (rest * b + time * c)
        }
        return SlidePoint(
            value(start.x, control1.x, control2?.x, end.x),
            value(start.y, control1.y, control2?.y, end.y))
    }

    /// The times between 0 and 1 at which one coordinate does not change.
    private static func turns(_ a: Double, _ b: Double, _ c: Double?, _ d: Double) -> [Double] {
        var times: [Double] = []
        if let c {
            let square = d - a + 3 * (b - c)
            let linear = 2 * (a - 2 * b + c)
            let rest = b - a
            let root = (linear * linear - 4 * square * rest).squareRoot()
            // The usual formula loses all digits where the square term is almost nothing.
            let sum = -(linear + (linear < 0 ? -root : root)) / 2
            times = [sum / square, rest / sum]
        } else {
            times = [(a - b) / (a - 2 * b + d)]
        }
        return times.filter { $0 > 0 && $0 < 1 }
    }
}
