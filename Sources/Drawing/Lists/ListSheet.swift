import Documents

extension Sheet {
    /// The card of a list: a bar in its colour with its title, and below it the items with their
    /// check marks, as many as there is room for. One unit is one pixel.
    ///
    /// Sizes follow the smaller side, so that at 128 pixels a few items can still be read.
    init(_ list: TaskList, title: String?, size: PixelSize) {
        width = Double(size.width)
        height = Double(size.height)
        background = .white
        marks = AnySequence([])
        var marks: [Mark] = []
        defer { self.marks = AnySequence(marks) }
        let side = min(width, height)
        let font = min(max(side * 0.055, 11), 48)
        let margin = font * 0.8
        let bar = title == nil ? font * 0.8 : font * 2.6
        marks.append(
            .outline(Outline(path: Path(Point(0, 0), Point(width, bar)), fill: list.color.color)))
        if let title {
            marks.append(
                .text(
                    line(
                        title, left: margin, top: (bar - font * 1.5) / 2, font: font * 1.25,
                        color: list.color.color.isLight ? .black : .white, isBold: true)))
        }
        let pitch = font * 1.75
        let room = max(1, Int((height - bar - margin * 0.5) / pitch))
        // One line less where a last line has to say how many more there are.
        let shown = list.items.count <= room ? list.items.count : room - 1
        var top = bar + margin * 0.5
        for item in list.items.prefix(shown) {
            marks += box(item, color: list.color.color, left: margin, top: top, font, pitch)
            marks.append(
                .text(
                    line(
                        item.text, left: margin + font * 1.6, top: top + (pitch - font * 1.2) / 2,
                        font: font, color: item.isComplete ? .faded : .black)))
            top += pitch
        }
        let rest = list.items.count - shown
        if rest > 0 || list.items.isEmpty {
            marks.append(
                .text(
                    line(
                        rest > 0 ? "\(rest) more" : "No items", left: margin + font * 1.6,
                        top: top + (pitch - font * 1.2) / 2, font: font, color: .faded)))
        }
    }

    /// A line of text from `left` to the right margin, with an ellipsis if it is too long.
    private func line(
        _ text: String, left: Double, top: Double, font: Double, color: Color, isBold: Bool = false
    ) -> TextBlock {
        TextBlock(
            text: text, left: left, top: top, width: max(width - left - font * 0.6, font),
            height: font * 1.3, fontHeight: font, color: color, pitch: font * 1.2,
            ascent: font * 0.95, wrapping: .ellipsis, isBold: isBold)
    }

    /// The check box of an item: a ring, or a disc with a tick.
    private func box(
        _ item: TaskItem, color: Color, left: Double, top: Double, _ font: Double, _ pitch: Double
    ) -> [Mark] {
        let radius = font * 0.48
        let center = Point(left + radius, top + pitch / 2)
        let circle = Path(
            center: center, radiusX: radius, radiusY: radius, start: 0, sweep: 360, isClosed: true)
        guard item.isComplete else {
            return [.outline(Outline(path: circle, stroke: color, thickness: font * 0.1))]
        }
        var tick = Path()
        tick.move(Point(center.x - radius * 0.5, center.y))
        tick.line(Point(center.x - radius * 0.1, center.y + radius * 0.42))
        tick.line(Point(center.x + radius * 0.5, center.y - radius * 0.4))
        return [
            .outline(Outline(path: circle, fill: color)),
            .outline(Outline(path: tick, stroke: .white, thickness: font * 0.13)),
        ]
    }
}

extension Color {
    /// Text of what is done, and hints.
    fileprivate static let faded = Color(red: 130, green: 130, blue: 135)

    /// Whether black reads better on it than white.
    fileprivate var isLight: Bool {
        299 * Int(red) + 587 * Int(green) + 114 * Int(blue) > 160_000
    }
}
