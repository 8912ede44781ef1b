import Documents

extension Slide: Fielded {
    var noun: String { "a slide" }

    var fields: [Field<Slide>] {
        let summaryKey = root["description"] == nil && root["desc"] != nil ? "desc" : "description"
        return [
            Slide.text("title", key: "title"), Slide.background,
            Slide.text("author", key: "author"),
            Slide.text("description", key: summaryKey, aliases: ["desc", "summary"]), Slide.canvas,
        ]
    }

    private static func text(
        _ name: String, key: String, aliases: [String] = []
    ) -> Field<Slide> {
        Field(
            name, aliases: aliases, get: { $0.root[key].map { JSONText.text($0) } },
            set: { slide, text throws(EditError) in
                slide.root[key] = text.map { .string(EscapedText.unescaped($0)) }
            })
    }

    private static let background = Field<Slide>(
        "background", aliases: ["bgcolor", "color"],
        get: { $0.root["bgcolor"].map { JSONText.text($0) } },
        set: { slide, text throws(EditError) in
            guard let text, text != "none" else {
                slide.root["bgcolor"] = nil
                return
            }
            let color = try ValueText.color(text)
            if slide.background != color { slide.background = color }
        })

    private static let canvas = Field<Slide>(
        "canvas", parts: ["width", "height"], partAliases: ["canvasWidth", "canvasHeight"],
        get: { slide in
            let isGiven = slide.root["canvasWidth"] != nil && slide.root["canvasHeight"] != nil
            return isGiven ? "\(slide.canvas.width),\(slide.canvas.height)" : nil
        },
        standard: { "\($0.canvas.width),\($0.canvas.height)" },
        set: { slide, text throws(EditError) in
            guard let text else {
                slide.root["canvasWidth"] = nil
                slide.root["canvasHeight"] = nil
                return
            }
            let sides = text.lowercased().split(
                omittingEmptySubsequences: false, whereSeparator: { $0 == "," || $0 == "x" })
            let numbers = sides.compactMap { Int($0) }
            guard sides.count == 2, numbers.count == 2,
                let size = CanvasSize(width: numbers[0], height: numbers[1])
            else {
                throw EditError(
                    .outOfRange,
                    "a canvas has sides of whole numbers from 1 to \(Limits.canvasSide), "
                        + "as in \(CanvasSize.standard.width)x\(CanvasSize.standard.height)")
            }
            if slide.canvas != size { slide.canvas = size }
        })
}
