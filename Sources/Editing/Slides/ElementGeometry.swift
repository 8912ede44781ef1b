import Documents
import Glibc

extension SlideElement {
    /// The keys of points, by halves.
    private static let points = [
        ("originx", "originy"), ("endx", "endy"), ("controlPoint1x", "controlPoint1y"),
        ("controlPoint2x", "controlPoint2y"),
    ]

    /// Where it begins.
    func origin() throws(EditError) -> SlidePoint {
        guard let x = json["originx"]?.double, let y = json["originy"]?.double else {
            throw EditError(.data, "it has no originx and originy")
        }
        return SlidePoint(x, y)
    }

    /// Changes every point of it, those of a chain's parts included.
    mutating func changePoints(_ body: (SlidePoint) -> SlidePoint) throws(EditError) {
        for (first, second) in SlideElement.points {
            guard let x = json[first]?.double, let y = json[second]?.double else { continue }
            let new = body(SlidePoint(x, y))
            try setNumber(first, new.x)
            try setNumber(second, new.y)
        }
        try changeLinks { link throws(EditError) in try link.changePoints(body) }
    }

    /// Sets a number, without what calculating leaves beyond its digits.
    mutating func setNumber(_ key: String, _ value: Double) throws(EditError) {
        guard value.isFinite else {
            throw EditError(.outOfRange, "\(key) would be beyond all numbers")
        }
        // A size that is not 0 does not become it by rounding.
        let isSize = ["width", "height", "radius", "fontHeight"].contains(key)
        let tidy = value.tidy
        if json[key]?.double != value { json[key] = .number(isSize && tidy == 0 ? value : tidy) }
    }

    /// Turns it clockwise about the middle of its box.
    mutating func rotate(by degrees: Double) throws(EditError) {
        let box = try bounds()
        guard degrees.truncatingRemainder(dividingBy: 360) != 0 else { return }
        switch shapeType {
        case "line", "curve", "chain":
            let angle = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
            let (sine, cosine) = (sin(angle), cos(angle))
            try changePoints { point in
                let (x, y) = (point.x - box.midX, point.y - box.midY)
                return SlidePoint(
                    box.midX + x * cosine - y * sine, box.midY + x * sine + y * cosine)
            }
        case "arc":
            for key in ["startAngle", "endAngle"] {
                try setNumber(key, (json[key]?.double ?? 0) + degrees)
            }
        case "rectangle", "ellipse":
            guard degrees.truncatingRemainder(dividingBy: 90) == 0 else {
                throw EditError(
                    .data, "\(noun) stands upright in slides; turn it by multiples of 90 degrees")
            }
            if degrees.truncatingRemainder(dividingBy: 180) != 0 {
                try setNumber("originx", box.midX - box.height / 2)
                try setNumber("originy", box.midY - box.width / 2)
                try setNumber("width", box.height)
                try setNumber("height", box.width)
            }
        case "circle": return  // It looks the same however it is turned.
        default: throw EditError(.data, "\(noun) cannot be turned in slides")
        }
    }

    /// Stretches it from the middle of its box; strokes keep their thickness.
    mutating func scale(by factors: SlidePoint) throws(EditError) {
        let box = try bounds()
        switch shapeType {
        case "circle", "arc":
            guard factors.x == factors.y else {
                throw EditError(.data, "\(noun) stays round; give one factor")
            }
            try setNumber("radius", (json["radius"]?.double ?? 0) * factors.x)
        default:
            // A factor of 1 leaves every digit.
            try changePoints { point in
                SlidePoint(
                    factors.x == 1 ? point.x : box.midX + (point.x - box.midX) * factors.x,
                    factors.y == 1 ? point.y : box.midY + (point.y - box.midY) * factors.y)
            }
            for (key, factor) in [
                ("width", factors.x), ("height", factors.y), ("fontHeight", factors.y),
            ] {
                guard let old = json[key]?.double else { continue }
                try setNumber(key, old * factor)
            }
        }
    }
}
