import Documents
internal import PathText

extension Picture {
    /// In bytes; so many are handed out at once, or a few more.
    private static let part = 64 << 10

    /// The picture as an SVG file whose bytes are handed out in order as they are made: slides and lists
    /// as shapes and real text, broken into lines as on the picture; a scene as a PNG picture in it, because
    /// shaded curved surfaces that hide each other have no exact counterpart there.
    ///
    /// - Throws: ``DrawingError/refusedBySink`` if `take` returns false.
    public func writeSVG(fitting size: PixelSize, to take: (UnsafeRawBufferPointer) -> Bool)
        throws(DrawingError)
    {
        let size = self.size(fitting: size)
        func hand(_ bytes: [UInt8]) throws(DrawingError) {
            guard bytes.withUnsafeBytes(take) else { throw .refusedBySink }
        }
        let head =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(size.width)\" height=\"\(size.height)\""
        if case .scene = self {
            // Inkscape 1.2 does not look for the `href` of SVG 2, which has no name space; all read
            // that of SVG 1.1.
            let start = """
                \(head) viewBox="0 0 \(size.width) \(size.height)" \
                xmlns:xlink="http://www.w3.org/1999/xlink">
                <image width="\(size.width)" height="\(size.height)" \
                xlink:href="data:image/png;base64,
                """
            // Not before it is known that there is a picture.
            var text = Array(start.utf8)
            // Three bytes are four letters: those that are left over wait for the next ones.
            var rest: [UInt8] = []
            try writePNG(fitting: size) { file in
                for start in stride(from: 0, to: file.count, by: Self.part) {
                    rest += file[start..<min(start + Self.part, file.count)]
                    text += Base64.encodedBytes(rest[..<(rest.count / 3 * 3)])
                    rest.removeFirst(rest.count / 3 * 3)
                    guard text.withUnsafeBytes(take) else { return false }
                    text.removeAll(keepingCapacity: true)
                }
                return true
            }
            return try hand(text + Base64.encodedBytes(rest[...]) + Array("\"/>\n</svg>\n".utf8))
        }
        let sheet = try sheet(size)
        var writer = SVGWriter(sheet: sheet, setter: try TextSetter(keepsUnknown: true))
        writer.begin(head)
        for mark in sheet.marks {
            writer.write(mark)
            if writer.bytes.count >= Self.part { try hand(writer.taken()) }
        }
        writer.end()
        try hand(writer.taken())
    }
}

/// Writes the marks of a sheet as SVG.
private struct SVGWriter {
    let sheet: Sheet
    let setter: TextSetter
    private(set) var bytes: [UInt8] = []
    private var clips = 0

    init(sheet: Sheet, setter: TextSetter) {
        self.sheet = sheet
        self.setter = setter
    }

    /// What has been written since the last time.
    mutating func taken() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    mutating func begin(_ head: String) {
        let (width, height) = (number(sheet.width), number(sheet.height))
        write(
            """
            \(head) viewBox="0 0 \(width) \(height)">
            <rect width="\(width)" height="\(height)" fill="\(sheet.background.hexadecimal)"/>

            """)
    }

    mutating func end() { write("</svg>\n") }

    mutating func write(_ mark: Mark) {
        switch mark {
        case .outline(let outline): write(outline)
        case .text(let block): write(block)
        }
    }

    private mutating func write(_ text: String) { bytes += text.utf8 }

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
        write("<path d=\"\(path)\"\(fill)\(stroke)/>\n")
    }

    private mutating func write(_ block: TextBlock) {
        guard block.color.alpha > 0 else { return }
        var clip = ""
        if block.isClipped {
            clips += 1
            write(
                """
                <clipPath id="clip\(clips)"><rect x="\(number(block.left))" \
                y="\(number(block.top))" width="\(number(block.width))" \
                height="\(number(block.height))"/></clipPath>

                """)
            clip = " clip-path=\"url(#clip\(clips))\""
        }
        write(
            """
            <text font-family="Helvetica, Arial, sans-serif" \
            font-size="\(number(block.fontHeight))"\(block.isBold ? " font-weight=\"bold\"" : "")\
            \(paint("fill", block.color, block.opacity))\(clip) xml:space="preserve">
            """)
        var lines = ""
        setter.set(block, above: sheet.height) { line in
            // SVG cannot stretch a line between its words, and programs do not agree on which way it runs.
            for piece in line.pieces(isJustified: block.alignment == .justified) {
                lines +=
                    "<tspan x=\"\(number(piece.x))\" y=\"\(number(line.baseline))\">"
                    + "\(escaped(piece.text))</tspan>"
            }
        }
        write(lines + "</text>\n")
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
