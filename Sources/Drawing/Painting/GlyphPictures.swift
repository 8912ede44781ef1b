import CPangoCairo

/// Paints the glyphs that are pictures in their font, as most emoji are. The library would keep each in the
/// size it is painted in, however large, and of great ones it has but the shadow.
final class GlyphPictures {
    typealias Glyphs = UnsafeMutablePointer<PangoGlyphString>

    /// A picture, and where it is beside the glyph's place, in the units of its line, y down.
    private struct Placed {
        let surface: OpaquePointer
        let left: Double
        let top: Double
        let width: Double
        let height: Double

        var bytes: Int {
            4 * Int(cairo_image_surface_get_width(surface))
                * Int(cairo_image_surface_get_height(surface))
        }
    }

    private struct Key: Hashable {
        let font: UnsafeMutablePointer<PangoFont>
        let glyph: UInt32
        /// Pixels for a unit of the line, or up to twice as many: texts of like heights share pictures.
        let scale: Double
    }

    /// Bytes of pictures that are kept.
    private static let mostBytes = 4 << 20
    /// Bytes of those that a page keeps until it is whole.
    private static let mostBytesOfPage = 8 << 20

    private let context: OpaquePointer
    /// Whether what is painted on keeps all pictures until it is whole, as pages of files do.
    private let isPage: Bool
    /// Nil for glyphs that are none.
    private var kept: [Key: Placed?] = [:]
    private var keptBytes = 0
    /// Whether something of the text is on pages before: all of it but pictures is.
    private(set) var isBegun = false
    /// Glyphs of the text that come before what is to be painted of it, and those that were come by.
    private var first = 0
    private var passed = 0

    /// Whether the page has no room for more: the rest of the text, from ``painted`` on, goes on another.
    private(set) var isFull = false
    /// How many glyphs of the text, of those in fonts with pictures, have been painted, on this page or before.
    private(set) var painted = 0

    /// - Parameter context: what is painted on; it has to outlive this.
    init(_ context: OpaquePointer) {
        self.context = context
        isPage =
            cairo_surface_get_type(cairo_get_target(context)) != CAIRO_SURFACE_TYPE_IMAGE
    }

    deinit { forget() }

    /// Begins a text.
    ///
    /// - Parameter painted: how many of its glyphs have been painted on pages before, where all of other fonts
    ///   have been, too; nil if it begins on this one.
    func begin(after painted: Int?) {
        isBegun = painted != nil
        (first, passed, self.painted) = (painted ?? 0, 0, painted ?? 0)
    }

    /// Whether all can be forgotten: a page keeps what it has been given.
    var areFree: Bool { !isPage || keptBytes == 0 }

    /// Whether there may be one among a line's glyphs.
    func areIn(_ line: UnsafeMutablePointer<PangoLayoutLine>) -> Bool {
        line.runs.contains { hasPictures($0.font) }
    }

    /// Paints a line: pictures by itself, and other glyphs by a function that gets their font and where they
    /// begin.
    ///
    /// - Parameter scale: pixels for a unit of the line.
    func paint(
        _ line: UnsafeMutablePointer<PangoLayoutLine>, scale: Double, opacity: Double,
        _ paintOthers: (Glyphs, UnsafeMutablePointer<PangoFont>, Double) -> Void
    ) {
        let near = near
        let shared = scale == scale.binade ? scale : 2 * scale.binade
        for (item, start) in line.visualRuns {
            guard let font = item.font, let glyphs = item.glyphs else { continue }
            guard hasPictures(font) else {
                if !isBegun { paintOthers(glyphs, font, start) }
                continue
            }
            guard let near else { continue }
            var x = start
            for index in 0..<Int(glyphs.pointee.num_glyphs) {
                var one = glyphs.pointee
                one.num_glyphs = 1
                one.glyphs += index
                one.log_clusters += index
                let place = one.glyphs.pointee.geometry
                defer { x += Double(place.width) / TextSetter.scale }
                guard near.contains(x) else { continue }
                passed += 1
                guard passed > first, !isFull else { continue }
                let key = Key(font: font, glyph: one.glyphs.pointee.glyph, scale: shared)
                let picture = picture(of: key)
                guard !isFull else { continue }
                if let picture {
                    paint(
                        picture, x: x + Double(place.x_offset) / TextSetter.scale,
                        y: Double(place.y_offset) / TextSetter.scale, opacity)
                } else {
                    paintOthers(&one, font, x)
                }
                painted = passed
            }
        }
    }

    /// Where pictures of the line that reach into what is painted begin; nil if none does: it may be some
    /// rows of the whole.
    private var near: Range<Double>? {
        var (left, top, right, bottom) = (0.0, 0.0, 0.0, 0.0)
        cairo_clip_extents(context, &left, &top, &right, &bottom)
        // Much more than they stand out by, or are wide.
        let reach = 4 * TextSetter.height
        guard top < reach, bottom > -reach, left <= right else { return nil }
        return left - reach..<right + reach
    }

    private func paint(_ picture: Placed, x: Double, y: Double, _ opacity: Double) {
        let width = Double(cairo_image_surface_get_width(picture.surface))
        let height = Double(cairo_image_surface_get_height(picture.surface))
        cairo_save(context)
        cairo_translate(context, x + picture.left, y + picture.top)
        cairo_scale(context, picture.width / width, picture.height / height)
        cairo_set_source_surface(context, picture.surface, 0, 0)
        cairo_paint_with_alpha(context, opacity)
        cairo_restore(context)
    }

    private func hasPictures(_ font: UnsafeMutablePointer<PangoFont>?) -> Bool {
        guard let font, let shaping = pango_font_get_hb_font(font) else { return false }
        return hb_ot_color_has_png(hb_font_get_face(shaping)) != 0
    }

    private func picture(of key: Key) -> Placed? {
        if let known = kept[key] { return known }
        if isPage {
            isFull = keptBytes >= Self.mostBytesOfPage
            if isFull { return nil }
        } else if keptBytes >= Self.mostBytes {
            forget()
        }
        let picture = Self.load(key)
        // Of those that are none as well, which have their entry.
        keptBytes += 64 + (picture?.bytes ?? 0)
        // Nothing else may come to be at its address.
        g_object_ref(key.font)
        kept[key] = .some(picture)
        return picture
    }

    /// Forgets them. For fonts that are given up, too: those that come after are others.
    func forget() {
        for (key, picture) in kept {
            if let picture { cairo_surface_destroy(picture.surface) }
            g_object_unref(key.font)
        }
        kept = [:]
        keptBytes = 0
    }

    private static func load(_ key: Key) -> Placed? {
        var extents = hb_glyph_extents_t()
        guard let font = pango_font_get_hb_font(key.font),
            hb_font_get_glyph_extents(font, key.glyph, &extents) != 0,
            extents.width != 0, extents.height != 0,
            let blob = hb_ot_color_glyph_reference_png(font, key.glyph)
        else { return nil }
        defer { hb_blob_destroy(blob) }
        let height = -Double(extents.height) / TextSetter.scale
        guard let whole = surface(of: blob) else { return nil }
        return Placed(
            surface: reduced(whole, to: 2 * height * key.scale),
            left: Double(extents.x_bearing) / TextSetter.scale,
            top: -Double(extents.y_bearing) / TextSetter.scale,
            width: Double(extents.width) / TextSetter.scale,
            height: height)
    }

    /// A picture of at most some height in pixels, instead of the one given: PDF files keep all they show.
    private static func reduced(_ surface: OpaquePointer, to height: Double) -> OpaquePointer {
        let (oldWidth, oldHeight) = (
            Double(cairo_image_surface_get_width(surface)),
            Double(cairo_image_surface_get_height(surface))
        )
        guard height < oldHeight else { return surface }
        let (width, height) = (
            max(1, (oldWidth * height / oldHeight).rounded(.up)), max(1, height.rounded(.up))
        )
        guard
            let result = cairo_image_surface_create(
                CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
        else { return surface }
        let context = cairo_create(result)
        cairo_scale(context, width / oldWidth, height / oldHeight)
        cairo_set_source_surface(context, surface, 0, 0)
        cairo_paint(context)
        cairo_destroy(context)
        cairo_surface_destroy(surface)
        return result
    }

    /// The picture of a PNG file.
    private static func surface(of blob: OpaquePointer) -> OpaquePointer? {
        var count: UInt32 = 0
        guard let start = hb_blob_get_data(blob, &count) else { return nil }
        var rest = UnsafeRawBufferPointer(start: start, count: Int(count))
        let surface = cairo_image_surface_create_from_png_stream(
            { rest, target, count in
                guard let rest = rest?.assumingMemoryBound(to: UnsafeRawBufferPointer.self),
                    let target, rest.pointee.count >= count
                else { return CAIRO_STATUS_READ_ERROR }
                let part = UnsafeRawBufferPointer(rebasing: rest.pointee.prefix(Int(count)))
                UnsafeMutableRawPointer(target).copyMemory(
                    from: part.baseAddress ?? UnsafeRawPointer(target), byteCount: part.count)
                rest.pointee = UnsafeRawBufferPointer(rebasing: rest.pointee.dropFirst(part.count))
                return CAIRO_STATUS_SUCCESS
            }, &rest)
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else {
            cairo_surface_destroy(surface)
            return nil
        }
        return surface
    }
}

extension PangoGlyphItem {
    /// What a run is set in.
    var font: UnsafeMutablePointer<PangoFont>? { item?.pointee.analysis.font }
}

extension UnsafeMutablePointer<PangoLayoutLine> {
    /// The runs of a line from left to right.
    var runs: [PangoGlyphItem] {
        var runs: [PangoGlyphItem] = []
        var next = pointee.runs
        while let entry = next {
            next = entry.pointee.next
            guard let data = entry.pointee.data else { continue }
            runs.append(data.assumingMemoryBound(to: PangoGlyphItem.self).pointee)
        }
        return runs
    }

    /// The runs, each with its left end in the line's units.
    var visualRuns: [(item: PangoGlyphItem, x: Double)] {
        var x = 0.0
        return runs.map { item in
            let start = x
            if let glyphs = item.glyphs?.pointee {
                let each = UnsafeBufferPointer(start: glyphs.glyphs, count: Int(glyphs.num_glyphs))
                x += Double(each.reduce(0) { $0 + Int($1.geometry.width) }) / TextSetter.scale
            }
            return (item, start)
        }
    }
}
