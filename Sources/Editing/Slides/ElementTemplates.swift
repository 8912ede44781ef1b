import Documents

extension SlideElement {
    /// A new element in the middle of a canvas. It has what it needs to be seen.
    static func template(_ type: String, on canvas: Slide.CanvasSize) -> SlideElement {
        let (x, y) = (canvas.width / 2, canvas.height / 2)
        let size = max(min(canvas.width, canvas.height) / 8, 1)
        let thickness = max(size / 32, 1)
        var json: JSONObject = ["shapeType": .string(type)]
        func set(_ key: String, _ value: Int) { json[key] = .integer(value) }
        let isBox = ["rectangle", "ellipse", "text"].contains(type)
        let isPath = ["line", "curve", "chain"].contains(type)
        set("originx", isBox || isPath ? x - size : x)
        set("originy", isBox ? y - size / 2 : y)
        switch type {
        case "line": set("endx", x + size)
        case "rectangle", "ellipse", "text": set("width", 2 * size)
        case "circle", "arc": set("radius", size)
        case "curve":
            set("endx", x + size)
            set("controlPoint1x", x)
            set("controlPoint1y", y - size)
        default:
            var line: JSONObject = ["shapeType": .string("line")]
            line["endx"] = .integer(x + size)
            line["endy"] = .integer(y)
            line["thickness"] = .integer(thickness)
            line["strokeColor"] = .string("#000000")
            json["elements"] = .array([.object(line)])
        }
        if type == "line" || type == "curve" { set("endy", y) }
        if isBox { set("height", size) }
        if type == "arc" {
            set("startAngle", 0)
            set("endAngle", 180)
        }
        if type == "text" {
            set("fontHeight", max(size / 2, 1))
            json["fillColor"] = .string("#000000")
            json["text"] = .string("Text")
        } else if type != "chain" {
            set("thickness", thickness)
            json["strokeColor"] = .string("#000000")
        }
        return SlideElement(json)
    }
}

extension Slide {
    /// A text that shows the title at the top.
    var titleElement: SlideElement {
        var element = SlideElement.template("text", on: canvas)
        let margin = canvas.width / 20
        element.json["originx"] = .integer(margin)
        element.json["originy"] = .integer(margin)
        element.json["width"] = .integer(canvas.width - 2 * margin)
        element.json["alignment"] = .string("center")
        element.json["text"] = .string(title ?? "")
        return element
    }
}
