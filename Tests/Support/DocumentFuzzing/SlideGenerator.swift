public import Documents

extension DocumentGenerator {
    /// A slide with elements of all types, some of them wrong.
    public mutating func slide() -> Slide {
        var slide = Slide(title: text())
        if random.chance(30) { slide.root["canvasWidth"] = .integer(random.below(5_000)) }
        if random.chance(30) { slide.root["canvasHeight"] = .integer(random.below(5_000)) }
        slide.elements = (0..<random.below(8)).map { _ in SlideElement(element()) }
        return slide
    }

    private mutating func element() -> JSONObject {
        let types = [
            "line", "rectangle", "circle", "arc", "ellipse", "curve", "chain", "text", "star",
        ]
        let type = random.one(of: types)
        var element: JSONObject = ["shapeType": .string(type)]
        let numbers = [
            "originx", "originy", "width", "height", "endx", "endy", "radius", "thickness",
            "startAngle", "endAngle", "controlPoint1x", "controlPoint1y", "controlPoint2x",
            "controlPoint2y", "fontHeight", "opacity",
        ]
        for key in numbers where random.chance(85) {
            element[key] = .integer(random.below(3_000) - 100)
        }
        let colors = ["#FFFFFF", "#12345", "clear", "red", "rgb(1, 2, 3)", "none"]
        for key in ["strokeColor", "fillColor", "bgcolor"] where random.chance(60) {
            element[key] = .string(random.one(of: colors))
        }
        if type == "text" { element["text"] = .string(text()) }
        if type == "chain" {
            element["elements"] = .array((0..<random.below(4)).map { _ in .object(self.element()) })
        }
        if random.chance(10) { element[text()] = json(depth: 4) }
        return element
    }
}
