import CPangoCairo
import Documents
internal import PathText

extension Picture {
    /// The picture as an SVG file: slides and lists as shapes and real text, broken into lines as
    /// on the picture; a scene as a PNG picture in it, because shaded curved surfaces that hide
    /// each other have no exact counterpart there.
    ///
    /// - Throws: ``DrawingError``.
    public func svg(fitting size: PixelSize) throws(DrawingError) -> [UInt8] {
        let size = self.size(fitting: size)
        if case .scene = self {
            let picture = Base64.encode(try png(fitting: size))
            return Array(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="\(size.width)" \
                height="\(size.height)" viewBox="0 0 \(size.width) \(size.height)">
                <image width="\(size.width)" height="\(size.height)" \
                href="data:image/png;base64,\(picture)"/>
                </svg>

                """.utf8)
        }
        var writer = SVGWriter(sheet: try sheet(size), size: size)
        return try writer.file()
    }
}

/// Writes the marks of a sheet as SVG.
private struct SVGWriter {
    let sheet: Sheet
    let size: PixelSize
    private var text = ""
    private var clips = 0

    init(sheet: Sheet, size: PixelSize) {
        self.sheet = sheet
        self.size = size
    }

    mutating func file() throws(DrawingError) -> [UInt8] {
        let surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1)
        defer { cairo_surface_destroy(surface) }
        guard let context = cairo_create(surface) else { throw .library("no memory") }
        defer { cairo_destroy(context) }
        let setter = TextSetter(context, paints: false)
        let (width, height) = (number(sheet.width), number(sheet.height))
        text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(size.width)" \
            height="\(size.height)" viewBox="0 0 \(width) \(height)">
            <rect width="\(width)" height="\(height)" fill="\(sheet.background.hexadecimal)"/>

            """
        for mark in sheet.marks {
            switch mark {
            case .outline(let outline): write(outline)
            case .text(let block): write(block, setter)
            }
        }
        return Array((text + "</svg>\n").utf8)
    }

    private mutating func write(_ outline: Outline) {
        let path = outline.path.steps.map { step in
            switch step {
            case .move(let p): "M\(place(p))"
            case .line(let p): "L\(place(p))"
            case .curve(let a, let b, let c): "C\(place(a)) \(place(b)) \(place(c))"
            case .close: "Z"
            }
        }.joined()
        let fill = outline.fill.map { paint("fill", $0, outline.opacity) } ?? " fill=\"none\""
        var stroke = ""
        if let color = outline.stroke, outline.thickness > 0 {
            stroke =
                paint("stroke", color, outline.opacity)
                + " stroke-width=\"\(number(outline.thickness))\" stroke-miterlimit=\"10\""
                + " paint-order=\"stroke\""
        }
        text += "<path d=\"\(path)\"\(fill)\(stroke)/>\n"
    }

    private mutating func write(_ block: TextBlock, _ setter: TextSetter) {
        guard block.color.alpha > 0 else { return }
        var clip = ""
        if block.isClipped {
            clips += 1
            text += """
                <clipPath id="clip\(clips)"><rect x="\(number(block.left))" \
                y="\(number(block.top))" width="\(number(block.width))" \
                height="\(number(block.height))"/></clipPath>

                """
            clip = " clip-path=\"url(#clip\(clips))\""
        }
        text += """
            <text font-family="Helvetica, Arial, sans-serif" \
            font-size="\(number(block.fontHeight))"\(block.isBold ? " font-weight=\"bold\"" : "")\
            \(paint("fill", block.color, block.opacity))\(clip) xml:space="preserve">
            """
        var lines = ""
        setter.set(block, above: sheet.height) { line in
            lines +=
                "<tspan x=\"\(number(line.x))\" y=\"\(number(line.baseline))\">"
                + "\(escaped(line.text))</tspan>"
        }
        text += lines + "</text>\n"
    }

    private func paint(_ kind: String, _ color: Color, _ opacity: Double) -> String {
        let alpha = Double(color.alpha) / 255 * opacity
        let opaque = Color(red: color.red, green: color.green, blue: color.blue)
        return " \(kind)=\"\(opaque.hexadecimal)\""
            + (alpha < 1 ? " \(kind)-opacity=\"\(number(alpha))\"" : "")
    }

    private func place(_ point: Point) -> String { "\(number(point.x)) \(number(point.y))" }

    /// At most three decimals; numbers no program can draw end at a billion.
    private func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let bounded = min(max(value, -1e9), 1e9)
        let thousandths = (bounded * 1000).rounded() / 1000
        return thousandths == thousandths.rounded() ? "\(Int(thousandths))" : "\(thousandths)"
    }

    private func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            // Not allowed in XML, even escaped.
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
