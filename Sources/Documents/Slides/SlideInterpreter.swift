extension SlideElement {
    /// What it draws; nil where that is nothing because a key is missing or wrong.
    public var shape: SlideShape? { interpreted().shape }

    /// What it draws, and every key that does not hold what it should. `path` is put before the
    /// keys of the problems, as in `element.4`.
    public func interpreted(at path: String = "") -> (shape: SlideShape?, problems: [SlideProblem])
    {
        var interpreter = SlideInterpreter(json, at: path)
        return (interpreter.shape(), interpreter.problems)
    }
}

/// Reads the keys of one element, filling in defaults and collecting what is wrong.
struct SlideInterpreter {
    private(set) var problems: [SlideProblem] = []
    private let json: JSONObject
    private let path: String

    init(_ json: JSONObject, at path: String) {
        self.json = json
        self.path = path
    }

    /// The shape of the element; nil draws nothing.
    mutating func shape() -> SlideShape? {
        if let opacity = json["opacity"], opacity.double.map({ (0...1).contains($0) }) != true {
            report("opacity", "\(opacity.shown) where a number from 0 to 1 is expected")
        }
        let type = json["shapeType"]
        switch type?.string {
        case "line": return painted(line(from: nil)) { .line(from: $0.start, to: $0.end, $1) }
        case "rectangle": return painted(box()) { .rectangle($0, $1) }
        case "ellipse": return painted(box()) { .ellipse($0, $1) }
        case "circle": return painted(circle()) { .circle(center: $0.0, radius: $0.1, $1) }
        case "arc": return painted(arc()) { .arc($0, $1) }
        case "curve": return painted(curve(from: nil)) { .curve($0, $1) }
        case "chain": return chain()
        case "text": return text().map { .text($0) }
        default:
            let found = type.map { "\($0.quoted) is unknown" } ?? "missing"
            report(
                "shapeType",
                "\(found), so nothing is drawn; known are line, rectangle, circle, arc, ellipse, "
                    + "curve, chain and text")
            return nil
        }
    }
}

// Parts of shapes. All keys are looked at before one that is missing ends it, so that all are told.
extension SlideInterpreter {
    /// What is drawn where `form` says, in its colours; these are looked at also where nothing is.
    private mutating func painted<Form, Drawn>(
        _ form: Form?, _ drawn: (Form, SlidePaint) -> Drawn
    ) -> Drawn? {
        let paint = paint()
        return form.map { drawn($0, paint) }
    }

    private mutating func box() -> SlideBox? {
        let origin = point("originx", "originy")
        let (width, height) = (number("width"), number("height"))
        guard let origin, let width, let height else { return nil }
        return SlideBox(origin: origin, width: width, height: height)
    }

    private mutating func circle() -> (SlidePoint, Double)? {
        let (center, radius) = (point("originx", "originy"), number("radius"))
        if let radius, radius < 0 {
            report("radius", "\(shown("radius")) is negative, so nothing is drawn")
        }
        guard let center, let radius, radius >= 0 else { return nil }
        return (center, radius)
    }

    private mutating func arc() -> SlideArc? {
        let circle = circle()
        let (start, end) = (number("startAngle"), number("endAngle"))
        guard let circle, let start, let end else { return nil }
        return SlideArc(center: circle.0, radius: circle.1, startAngle: start, endAngle: end)
    }

    private mutating func line(from previous: SlidePoint?) -> (start: SlidePoint, end: SlidePoint)?
    {
        let start = previous ?? point("originx", "originy")
        guard let end = point("endx", "endy"), let start else { return nil }
        return (start, end)
    }

    private mutating func curve(from previous: SlidePoint?) -> SlideCurve? {
        let ends = line(from: previous)
        let control1 = point("controlPoint1x", "controlPoint1y")
        let isCubic = json["controlPoint2x"] != nil || json["controlPoint2y"] != nil
        let control2 = isCubic ? point("controlPoint2x", "controlPoint2y") : nil
        guard let ends, let control1, !isCubic || control2 != nil else { return nil }
        return SlideCurve(start: ends.start, control1: control1, control2: control2, end: ends.end)
    }

    private mutating func chain() -> SlideShape? {
        guard let elements = json["elements"]?.array, !elements.isEmpty else {
            report("elements", "a chain without elements, so nothing is drawn")
            return nil
        }
        let origin = point("originx", "originy")
        var end = origin ?? SlidePoint(0, 0)
        var links: [SlideLink] = []
        for (index, element) in elements.enumerated() {
            let place = SlideElement.path(at: index)
            guard let object = element.object else {
                report(place, "\(element.typeName) where a line or curve is expected")
                continue
            }
            var inner = SlideInterpreter(object, at: path.isEmpty ? place : "\(path).\(place)")
            if let link = inner.link(from: end) {
                links.append(link)
                end = link.end
            }
            problems += inner.problems.prefix(Limits.listedRepairs - problems.count)
        }
        return origin == nil || links.isEmpty ? nil : .chain(links)
    }

    private mutating func link(from previous: SlidePoint) -> SlideLink? {
        switch json["shapeType"]?.string {
        case "line": return painted(line(from: previous)) { .line(from: $0.start, to: $0.end, $1) }
        case "curve": return painted(curve(from: previous)) { .curve($0, $1) }
        default:
            report("shapeType", "a chain holds only elements of shapeType line and curve")
            return nil
        }
    }

    private mutating func text() -> SlideText? {
        let box = box()
        let height = number("fontHeight")
        if let height, height <= 0 {
            report("fontHeight", "\(shown("fontHeight")) is not more than 0, so nothing is drawn")
        }
        let words = json["text"]?.string
        if words == nil {
            let found = json["text"].map { "\($0.shown) where text is expected" } ?? "missing"
            report("text", "\(found), so nothing is drawn")
        }
        let foreground = color("fillColor") ?? .black
        let background = color("bgcolor")
        let alignment = json["alignment"]
        let known = alignment?.string.flatMap { SlideText.Alignment(rawValue: $0) }
        if alignment != nil, known == nil {
            report("alignment", "neither left, center, right nor justified; left is used")
        }
        let interactive = json["interactive"]
        if let interactive, interactive.boolean == nil {
            report("interactive", "\(interactive.typeName) where true or false is expected")
        }
        guard let box, let height, height > 0, let words else { return nil }
        return SlideText(
            box: box, fontHeight: height, color: foreground,
            background: background?.alpha == 0 ? nil : background, alignment: known ?? .left,
            text: words)
    }
}

// Single keys.
extension SlideInterpreter {
    private mutating func report(_ key: String, _ reason: String) {
        // A chain may have one for each of its many elements.
        guard problems.count < Limits.listedRepairs else { return }
        problems.append(SlideProblem(path: path.isEmpty ? key : "\(path).\(key)", reason: reason))
    }

    /// What a key holds, in a report.
    private func shown(_ key: String) -> String { json[key]?.shown ?? "nothing" }

    private mutating func number(_ key: String) -> Double? {
        guard let value = json[key] else {
            report(key, "missing, so nothing is drawn")
            return nil
        }
        guard let number = value.double else {
            report(
                key, "\(value.shown) where a finite number is expected, so nothing is drawn")
            return nil
        }
        return number
    }

    private mutating func point(_ x: String, _ y: String) -> SlidePoint? {
        let (x, y) = (number(x), number(y))
        guard let x, let y else { return nil }
        return SlidePoint(x, y)
    }

    private mutating func color(_ key: String) -> Color? {
        guard let value = json[key] else { return nil }
        if let text = value.string, let color = Color(text) { return color }
        report(key, SlideProblem.noColor(value))
        return nil
    }

    private mutating func paint() -> SlidePaint {
        let stroke = color("strokeColor")
        let fill = color("fillColor")
        var thickness = 1.0
        if let value = json["thickness"] {
            if let number = value.double, number >= 0 {
                thickness = number
            } else {
                report("thickness", "not a number of 0 or more; 1 is used")
            }
        }
        let isBare = stroke == nil && fill == nil
        return SlidePaint(thickness: thickness, stroke: isBare ? .black : stroke, fill: fill)
    }
}

extension JSONValue {
    /// The number as it is written, or what else it is.
    fileprivate var shown: String {
        if case .number(let number) = self { String(number.text.prefix(64)) } else { typeName }
    }

    /// The beginning of a text in quotation marks, the number as it is written, or what else it is.
    var quoted: String { string.map { "'\($0.prefix(64))'" } ?? shown }
}

extension SlideLink {
    /// Where it ends.
    fileprivate var end: SlidePoint {
        switch self {
        case .line(_, let end, _): end
        case .curve(let curve, _): curve.end
        }
    }
}
