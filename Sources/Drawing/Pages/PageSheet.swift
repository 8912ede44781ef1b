import Documents

/// Sets the blocks of a page from the top down until the paper is full.
struct PageSheet {
    /// The paper: A4's proportions, and few enough lines that some can be read at 256 pixels.
    static let width = 340.0
    static let height = 481.0
    private static let margin = 26.0
    private static let font = 11.0

    private let setter: TextSetter
    private(set) var marks: [Mark] = []
    private var top = PageSheet.margin

    /// The sheet of a page.
    static func sheet(_ page: Page) throws(DrawingError) -> Sheet {
        // Lines are counted before they are painted.
        var sheet = PageSheet(setter: try TextSetter())
        for block in PageBlock.blocks(of: page) {
            guard sheet.top < height - margin else { break }
            sheet.add(block, spaced: page.markup == .markdown)
        }
        return Sheet(
            width: width, height: height, background: .white, marks: AnySequence(sheet.marks))
    }

    private init(setter: TextSetter) { self.setter = setter }

    private mutating func add(_ block: PageBlock, spaced: Bool) {
        let gap = spaced ? Self.font * 0.55 : 0
        switch block.kind {
        case .paragraph, .table:
            set(block.text, indent: 0)
            top += gap
        case .heading(let level):
            let scale = level == 1 ? 1.9 : level == 2 ? 1.5 : 1.2
            if top > Self.margin { top += gap }
            set(block.text, indent: 0, font: Self.font * scale, isBold: true)
            top += gap
        case .item(let mark, let depth):
            let indent = Self.font * (0.4 + 1.2 * Double(depth))
            let start = top
            set(mark, indent: indent)
            top = start
            // A digit is as wide as 0.56 of the height, and a point as half of that.
            let room = mark.count > 1 ? max(1.7, 0.56 * Double(mark.count) + 0.2) : 1.2
            set(block.text, indent: indent + Self.font * room)
            top += gap * 0.4
        case .quote:
            let start = top
            set(block.text, indent: Self.font * 1.2, color: .faded)
            box(from: start, to: top, left: Self.margin, right: Self.margin + 2.5, .rule)
            top += gap
        case .code:
            let place = marks.count
            let start = top
            top += Self.font * 0.4
            set(block.text, indent: Self.font * 0.6, font: Self.font * 0.85)
            top += Self.font * 0.4
            box(
                from: start, to: top, left: Self.margin, right: Self.width - Self.margin, .shade,
                at: place)
            top += gap
        case .rule:
            box(
                from: top + gap, to: top + gap + 1, left: Self.margin,
                right: Self.width - Self.margin, .rule)
            top += 2 * gap + 1
        }
    }

    private mutating func set(
        _ text: String, indent: Double, font: Double = PageSheet.font, color: Color = .ink,
        isBold: Bool = false
    ) {
        let pitch = font * 1.35
        let left = Self.margin + indent
        var block = TextBlock(
            text: text, left: left, top: top, width: Self.width - Self.margin - left,
            height: Self.height - Self.margin - top, fontHeight: font, color: color, pitch: pitch,
            ascent: font * 1.05, isBold: isBold)
        var lines = 0
        setter.set(block, above: Self.height - Self.margin) { _ in lines += 1 }
        // No line that would be cut in two at the end of the page.
        lines = min(lines, Int((Self.height - Self.margin - top) / pitch))
        block.height = Double(lines) * pitch
        if lines > 0, !text.isEmpty { marks.append(.text(block)) }
        // A page on which not even one line more has room is full.
        top = lines > 0 ? top + block.height : Self.height
    }

    private mutating func box(
        from start: Double, to end: Double, left: Double, right: Double, _ color: Color,
        at place: Int? = nil
    ) {
        let end = min(end, Self.height - Self.margin)
        guard end > start else { return }
        let path = Path(Point(left, start), Point(right, end))
        marks.insert(.outline(Outline(path: path, fill: color)), at: place ?? marks.count)
    }
}

extension Color {
    fileprivate static let ink = Color(red: 40, green: 40, blue: 45)
    fileprivate static let faded = Color(red: 110, green: 110, blue: 118)
    fileprivate static let rule = Color(red: 205, green: 205, blue: 212)
    fileprivate static let shade = Color(red: 243, green: 243, blue: 246)
}
