import CPangoCairo
import Documents

/// Paints marks with cairo, onto pixels or into a PDF.
struct Painter {
    /// Glyphs higher than this, in pixels, are painted as paths.
    static let largestCached = 256.0
    /// Heights of fonts that are painted, in pixels: lower ones cannot be seen, and higher ones
    /// are more than FreeType can scale.
    private static let fontHeights = 0.05...16_384.0

    /// The cairo context, in pixels of the whole picture.
    let context: OpaquePointer
    /// Pixels (or points of a PDF) for a unit of the sheet, horizontally and vertically.
    let scaleX: Double
    let scaleY: Double
    /// Of the whole picture, in pixels.
    let width: Double
    let height: Double
    /// The rows that are painted; what lies above and below is left out.
    let rows: Range<Double>
    /// How texts are painted.
    let fonts: Fonts

    /// What is made of the library's fonts.
    enum Fonts: Equatable {
        /// One for each height that is painted, with pictures of glyphs.
        case ofEachHeight
        /// One for all of them, where there are many, and its glyphs as text in a file or as outlines.
        case shared(asOutlines: Bool)
    }

    func paint(_ sheet: Sheet) throws(DrawingError) {
        paint(sheet.background)
        var work = Overdraw(pixels: width * height)
        try paint(sheet.marks, &work)
    }

    /// Paints everything in one colour.
    func paint(_ background: Color) {
        setColor(background, 1)
        cairo_paint(context)
    }

    /// How far marks have been painted.
    struct Progress {
        /// Whole marks.
        var marks = 0
        /// Glyphs of the next, as ``GlyphPictures`` counts them; nil if nothing of it is painted.
        var glyphs: Int?
    }

    /// Paints marks, which count as work.
    ///
    /// - Parameter painted: glyphs of the first that have been painted on pages before; nil if it begins here.
    /// - Returns: how far, which is less than to the end only where the page has no room for more.
    @discardableResult
    func paint(_ marks: some Sequence<Mark>, _ work: inout Overdraw, after painted: Int? = nil)
        throws(DrawingError) -> Progress
    {
        var setter = TextSetter(context)
        var used = UsedFonts()
        let pictures = GlyphPictures(context)
        var progress = Progress(glyphs: painted)
        for mark in marks {
            switch mark {
            case .outline(let outline):
                if let reach = visible(outline) {
                    try work.add(reach.pixels)
                    paint(outline)
                }
            case .text(let block):
                if let reach = visible(block) {
                    try work.add(reach.pixels + block.effort)
                    pictures.begin(after: progress.glyphs)
                    if pictures.areFree, used.giveUpIfMany() {
                        pictures.forget()
                        setter = TextSetter(context)
                    }
                    paint(block, setter, pictures, &used)
                }
            }
            if pictures.isFull {
                progress.glyphs = pictures.painted
                break
            }
            progress = Progress(marks: progress.marks + 1)
        }
        let status = cairo_status(context)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw .library(String(cString: cairo_status_to_string(status)))
        }
        return progress
    }

    private func paint(_ outline: Outline) {
        let tracer = PathTracer(context: context, scaleX: scaleX, scaleY: scaleY)
        tracer.trace(outline.path)
        if let stroke = outline.stroke, stroke.alpha > 0, outline.thickness > 0 {
            setColor(stroke, outline.opacity)
            cairo_save(context)
            // The pen is scaled as the path is.
            cairo_scale(context, scaleX, scaleY)
            let limit = PictureLimits.reach / max(scaleX, scaleY)
            cairo_set_line_width(context, min(outline.thickness, limit))
            cairo_stroke_preserve(context)
            cairo_restore(context)
        }
        if let fill = outline.fill, fill.alpha > 0 {
            tracer.close(outline.path)
            setColor(fill, outline.opacity)
            cairo_fill_preserve(context)
        }
        cairo_new_path(context)
    }

    private func paint(
        _ block: TextBlock, _ setter: TextSetter, _ pictures: GlyphPictures,
        _ used: inout UsedFonts
    ) {
        guard block.color.alpha > 0 else { return }
        cairo_save(context)
        cairo_scale(context, scaleX, scaleY)
        if block.isClipped {
            // Nothing is lost by clipping to the picture too, and cairo gets numbers it can hold.
            let (left, right) = (
                max(block.left, 0), min(block.left + block.width, width / scaleX)
            )
            let (top, bottom) = (
                max(block.top, 0), min(block.top + block.height, height / scaleY)
            )
            cairo_rectangle(context, left, top, max(right - left, 0), max(bottom - top, 0))
            cairo_clip(context)
        }
        setColor(block.color, block.opacity)
        // The library keeps pictures of glyphs, which must not become as large as these.
        let isLarge = block.fontHeight * max(scaleX, scaleY) > Self.largestCached
        let isTraced = isLarge || fonts == .shared(asOutlines: true)
        let isScaled = !isLarge && fonts == .ofEachHeight
        setter.set(block, above: rows.upperBound / scaleY, isScaled: isScaled) { line in
            used.add(line.glyphs)
            guard abs(line.x * scaleX) < PictureLimits.reach,
                abs(line.baseline * scaleY) < PictureLimits.reach
            else { return }
            cairo_save(context)
            cairo_translate(context, line.x, line.baseline)
            cairo_scale(context, line.unit, line.unit)
            if pictures.areIn(line.glyphs) {
                let opacity = Double(block.color.alpha) / 255 * block.opacity
                let scale = line.unit * scaleY
                pictures.paint(line.glyphs, scale: scale, opacity: opacity) { glyphs, font, x in
                    cairo_move_to(context, x, 0)
                    if isTraced {
                        pango_cairo_glyph_string_path(context, font, glyphs)
                        cairo_fill(context)
                    } else {
                        pango_cairo_show_glyph_string(context, font, glyphs)
                    }
                }
            } else if !pictures.isBegun {
                cairo_move_to(context, 0, 0)
                if isTraced {
                    pango_cairo_layout_line_path(context, line.glyphs)
                    cairo_fill(context)
                } else {
                    pango_cairo_show_layout_line(context, line.glyphs)
                }
            }
            cairo_restore(context)
        }
        cairo_new_path(context)
        cairo_restore(context)
    }

    private func setColor(_ color: Color, _ opacity: Double) {
        cairo_set_source_rgba(
            context, Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255,
            Double(color.alpha) / 255 * opacity)
    }
}

extension Painter {
    /// How much of the picture a mark may cover.
    private struct Reach {
        /// An area, in pixels.
        var pixels: Double
    }

    private func visible(_ outline: Outline) -> Reach? {
        // Mitres stand out by at most ten times half the width.
        let margin = outline.stroke == nil ? 0 : outline.thickness * 5
        let low = Point(outline.path.low.x - margin, outline.path.low.y - margin)
        let high = Point(outline.path.high.x + margin, outline.path.high.y + margin)
        return visible(low, high)
    }

    private func visible(_ block: TextBlock) -> Reach? {
        // A picture one pixel wide may be wider than its canvas is.
        guard Self.fontHeights.contains(block.fontHeight * scaleY),
            block.fontHeight * scaleX <= Self.fontHeights.upperBound
        else { return nil }
        guard block.isClipped else { return Reach(pixels: width * height) }
        return visible(
            Point(block.left, block.top), Point(block.left + block.width, block.top + block.height))
    }

    private func visible(_ low: Point, _ high: Point) -> Reach? {
        // Within a pixel around the picture; comparisons with what is not a number fail.
        let (left, right) = (max(low.x * scaleX, -1), min(high.x * scaleX, width + 1))
        let (top, bottom) = (
            max(low.y * scaleY, rows.lowerBound - 1), min(high.y * scaleY, rows.upperBound + 1)
        )
        guard left <= right, top <= bottom else { return nil }
        return Reach(pixels: (right - left + 16) * (bottom - top + 16))
    }

    /// Counts the work of painting against ``PictureLimits/overdraw``.
    struct Overdraw {
        private let limit: Double
        private var painted = 0.0

        init(pixels: Double) { limit = (pixels + 1_000_000) * Double(PictureLimits.overdraw) }

        fileprivate mutating func add(_ pixels: Double) throws(DrawingError) {
            painted += pixels
            guard painted <= limit else { throw .tooMuchOverdraw }
        }
    }
}

extension TextBlock {
    /// What setting it costs, as the number of pixels that could be filled in that time.
    fileprivate var effort: Double {
        100_000 + 3_000 * Double(min(text.utf8.count, PictureLimits.characters))
    }
}
