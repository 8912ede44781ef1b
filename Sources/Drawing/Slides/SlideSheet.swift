import Documents

extension Sheet {
    /// So many marks are made once and kept. More are made whenever they are gone through: all at once
    /// they take ten times the memory of the document's text.
    private static let mostKept = 4_096

    /// The marks of a slide. Elements that cannot be read draw nothing.
    init(_ slide: Slide, mode: SlideMode) throws(DrawingError) {
        let count = slide.elements.reduce(0) { $0 + $1.partCount }
        guard count <= PictureLimits.marks else {
            throw .tooManyParts(count: count, limit: PictureLimits.marks)
        }
        width = Double(slide.canvas.width)
        height = Double(slide.canvas.height)
        background = (slide.background ?? .white).over(.white)
        for element in slide.elements where element.shapeType == "text" {
            fonts.add(element.json["text"]?.string, height: element.json["fontHeight"]?.double)
        }
        let made = SlideMarks(slide: slide, mode: mode)
        marks = count <= Self.mostKept ? AnySequence(Array(made)) : AnySequence(made)
    }
}

extension SlideElement {
    /// How many marks it takes, at most, but for those of texts.
    fileprivate var partCount: Int { json["elements"]?.array?.count ?? 1 }
}

/// The marks of a slide, made an element at a time.
struct SlideMarks: Sequence {
    let slide: Slide
    let mode: SlideMode

    func makeIterator() -> Iterator { Iterator(of: self) }

    struct Iterator: IteratorProtocol {
        private let slide: Slide
        private let mode: SlideMode
        private var elements: Range<Int>
        /// Elements whose texts the app paints over all else; those that were painted are passed.
        private var texts: [Int] = []
        private var passed = 0
        /// Marks of the element at hand, the first at the end.
        private var ready: [Mark] = []
        /// A new canvas of a browser paints lines 1 wide; on the picture, not on the slide.
        private var thickness: Double?

        fileprivate init(of marks: SlideMarks) {
            (slide, mode) = (marks.slide, marks.mode)
            elements = slide.elements.indices
        }

        mutating func next() -> Mark? {
            while ready.isEmpty {
                if let index = elements.popFirst() {
                    make(index)
                } else if passed < texts.count {
                    paint(texts[passed])
                    passed += 1
                } else {
                    return nil
                }
            }
            return ready.popLast()
        }

        /// What an element paints where it stands.
        private mutating func make(_ index: Int) {
            let opacity = slide.elements[index].opacity
            switch slide.elements[index].shape {
            case nil: break
            case .text(let text)?:
                if mode == .app { return texts.append(index) }
                ready = [
                    text.webMark(opacity: opacity),
                    .outline(
                        text.webBox(thickness: thickness ?? Double(slide.canvas.width) / 1024)),
                ]
            case let shape?:
                let outlines = shape.outlines(opacity: opacity)
                if let last = outlines.last { thickness = last.thickness }
                ready = outlines.reversed().map { .outline($0) }
            }
        }

        /// The text of an element, as the app paints it.
        private mutating func paint(_ index: Int) {
            guard case .text(let text)? = slide.elements[index].shape else { return }
            ready = text.appMarks(opacity: slide.elements[index].opacity).reversed()
        }
    }
}

extension SlideShape {
    /// The paths to paint; none for text.
    fileprivate func outlines(opacity: Double) -> [Outline] {
        switch self {
        case .line(let from, let to, let paint):
            return [Outline(line(from, to), paint, opacity)]
        case .rectangle(let box, let paint):
            let opposite = Point(box.origin.x + box.width, box.origin.y + box.height)
            return [Outline(Path(Point(box.origin), opposite), paint, opacity)]
        case .circle(let center, let radius, let paint):
            let path = Path(
                center: Point(center), radiusX: radius, radiusY: radius, start: 0, sweep: 360,
                isClosed: true)
            let covered = Path(
                sweptAlong: Point(center), radius: radius, start: 0, sweep: 360,
                width: paint.thickness)
            return Outline.all(path, covered: covered, paint, opacity)
        case .arc(let arc, let paint):
            let path = Path(
                center: Point(arc.center), radiusX: arc.radius, radiusY: arc.radius,
                start: arc.startAngle, sweep: -arc.sweep)
            let covered = Path(
                sweptAlong: Point(arc.center), radius: arc.radius, start: arc.startAngle,
                sweep: -arc.sweep, width: paint.thickness)
            return Outline.all(path, covered: covered, paint, opacity)
        case .ellipse(let box, let paint):
            let center = Point(box.origin.x + box.width / 2, box.origin.y + box.height / 2)
            let path = Path(
                center: center, radiusX: box.width / 2, radiusY: box.height / 2, start: 0,
                sweep: 360, isClosed: true)
            let covered = Path(
                sweptAlong: center, radiusX: abs(box.width / 2), radiusY: abs(box.height / 2),
                width: paint.thickness)
            return Outline.all(path, covered: covered, paint, opacity)
        case .curve(let shape, let paint): return [Outline(curve(shape), paint, opacity)]
        case .chain(let links):
            return links.map { link in
                switch link {
                case .line(let from, let to, let paint): Outline(line(from, to), paint, opacity)
                case .curve(let shape, let paint): Outline(curve(shape), paint, opacity)
                }
            }
        case .text: return []
        }
    }

    private func line(_ from: SlidePoint, _ to: SlidePoint) -> Path {
        var path = Path()
        path.move(Point(from))
        path.line(Point(to))
        return path
    }

    private func curve(_ shape: SlideCurve) -> Path {
        let (start, end) = (Point(shape.start), Point(shape.end))
        let control1 = Point(shape.control1)
        var path = Path()
        path.move(start)
        if let control2 = shape.control2 {
            path.curve(control1, Point(control2), end)
        } else {
            // The same quadratic curve as a cubic one.
            func towards(_ point: Point) -> Point {
                Point(
                    point.x + (control1.x - point.x) * 2 / 3,
                    point.y + (control1.y - point.y) * 2 / 3)
            }
            path.curve(towards(start), towards(end), end)
        }
        return path
    }
}

extension SlideText {
    /// How the app paints a text: its background, and the lines with half of the leading above.
    fileprivate func appMarks(opacity: Double) -> [Mark] {
        var block = block(opacity: opacity)
        block.pitch = fontHeight * 1.2
        block.ascent = fontHeight * 0.95
        guard let background, background.alpha > 0 else { return [.text(block)] }
        let corner = Point(block.left, block.top)
        let opposite = Point(block.left + block.width, block.top + block.height)
        let outline = Outline(path: Path(corner, opposite), fill: background, opacity: opacity)
        return [.outline(outline), .text(block)]
    }

    fileprivate func webMark(opacity: Double) -> Mark {
        var block = block(opacity: opacity)
        block.wrapping = .atBlanks
        block.isClipped = false
        // A browser's canvas cannot justify.
        if block.alignment == .justified { block.alignment = .left }
        return .text(block)
    }

    fileprivate func webBox(thickness: Double) -> Outline {
        let opposite = Point(box.origin.x + box.width, box.origin.y + box.height)
        return Outline(
            path: Path(Point(box.origin), opposite),
            stroke: Color(red: 255, green: 0, blue: 0, alpha: 128), thickness: thickness)
    }

    private func block(opacity: Double) -> TextBlock {
        let alignment: TextBlock.Alignment =
            switch alignment {
            case .left: .left
            case .center: .center
            case .right: .right
            case .justified: .justified
            }
        return TextBlock(
            text: text, left: min(box.origin.x, box.origin.x + box.width),
            top: min(box.origin.y, box.origin.y + box.height), width: abs(box.width),
            height: abs(box.height), fontHeight: fontHeight, color: color, opacity: opacity,
            alignment: alignment, pitch: fontHeight, ascent: fontHeight)
    }
}

extension Outline {
    init(_ path: Path, _ paint: SlidePaint, _ opacity: Double) {
        self.init(
            path: path, stroke: paint.stroke, thickness: paint.thickness, fill: paint.fill,
            opacity: opacity)
    }
}

extension Point {
    fileprivate init(_ point: SlidePoint) { self.init(point.x, point.y) }
}
