import Documents

/// What the keys of a slide's elements hold.
enum ElementValue: Hashable, Sendable {
    case number
    case atLeastZero
    case moreThanZero
    case opacity
    case color
    case text
    case boolean
    case alignment
    case shapeType
}

/// The keys of each type of element.
enum ElementKeys {
    /// The types of elements, in the order of the format's description.
    static let types = ["line", "rectangle", "circle", "arc", "ellipse", "curve", "chain", "text"]

    /// What each key holds.
    static let values: [String: ElementValue] = {
        var values: [String: ElementValue] = [
            "shapeType": .shapeType, "radius": .atLeastZero, "thickness": .atLeastZero,
            "fontHeight": .moreThanZero, "opacity": .opacity, "strokeColor": .color,
            "fillColor": .color, "bgcolor": .color, "text": .text, "comment": .text,
            "interactive": .boolean, "alignment": .alignment,
        ]
        for key in numbers { values[key] = .number }
        return values
    }()

    private static let numbers = [
        "originx", "originy", "width", "height", "endx", "endy", "controlPoint1x",
        "controlPoint1y", "controlPoint2x", "controlPoint2y", "startAngle", "endAngle",
    ]

    /// The keys of a type, those first that it must have; all keys where the type is not known.
    static func keys(of type: String?) -> [String] {
        guard let type, types.contains(type) else { return ["shapeType"] + all }
        return ["shapeType"] + needed(by: type) + optional(in: type) + ["opacity", "comment"]
    }

    private static let all = values.keys.filter { $0 != "shapeType" }.sorted()

    /// The keys without which an element of a type draws nothing.
    static func needed(by type: String) -> [String] {
        let origin = ["originx", "originy"]
        return switch type {
        case "line": origin + ["endx", "endy"]
        case "rectangle", "ellipse": origin + ["width", "height"]
        case "circle": origin + ["radius"]
        case "arc": origin + ["radius", "startAngle", "endAngle"]
        case "curve": origin + ["endx", "endy", "controlPoint1x", "controlPoint1y"]
        case "text": origin + ["width", "height", "fontHeight", "text"]
        default: origin
        }
    }

    private static func optional(in type: String) -> [String] {
        switch type {
        case "line": ["thickness", "strokeColor"]
        case "curve":
            ["controlPoint2x", "controlPoint2y", "thickness", "strokeColor", "fillColor"]
        case "text": ["fillColor", "bgcolor", "alignment", "interactive"]
        case "chain": []
        default: ["thickness", "strokeColor", "fillColor"]
        }
    }

    /// The key that `color` means: what is seen most of an element of a type.
    static func mainColor(of type: String?) -> String {
        ["rectangle", "circle", "ellipse", "text"].contains(type) ? "fillColor" : "strokeColor"
    }

    /// Other names for keys of a type.
    static func aliases(of key: String, in type: String?) -> [String] {
        var aliases: [String] = []
        switch key {
        case "shapeType": aliases = ["type", "shape", "kind"]
        case "strokeColor": aliases = ["stroke"]
        case "fillColor": aliases = ["fill"]
        case "bgcolor": aliases = ["background"]
        case "comment": aliases = ["name"]
        case "fontHeight": aliases = ["fontSize"]
        default: break
        }
        return key == mainColor(of: type) ? aliases + ["color"] : aliases
    }
}
