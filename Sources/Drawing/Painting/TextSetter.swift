import CPangoCairo

/// Sets text with Pango, without hinting, so that lines break alike at every size of the picture.
///
/// Belongs to one thread, as the library's fonts do.
final class TextSetter {
    /// The family slides are set in. Fontconfig knows what stands for it where it is missing.
    private static let family = "Helvetica"
    /// Text is set at this height whatever the document asks for, and scaled: so tiny and huge
    /// fonts neither lose precision nor leave the 32 bits of the library's numbers.
    static let height = 64.0
    /// Units of the library in one of ours.
    static let scale = Double(PANGO_SCALE)
    /// The widest line the library's numbers can hold, with room to spare.
    private static let widest = 1_000_000.0

    /// Of a text with more soft hyphens (in a row they are one) none is seen.
    private static let mostSoftHyphens = 200

    /// The cairo context that is painted on; its own if it only measures.
    private let context: OpaquePointer
    private let paints: Bool
    /// Whether characters that no font has stay what they are: for who writes text that is shown elsewhere.
    private let keepsUnknown: Bool
    let layout: OpaquePointer

    /// A setter whose lines will be painted on a context, which has to outlive it.
    convenience init(_ context: OpaquePointer) {
        self.init(context, paints: true, keepsUnknown: false)
    }

    /// A setter whose lines are only measured: that needs fonts, but no pixels.
    ///
    /// - Parameter keepsUnknown: whether characters that no font has stay what they are.
    convenience init(keepsUnknown: Bool = false) throws(DrawingError) {
        let surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1)
        // The context keeps it.
        defer { cairo_surface_destroy(surface) }
        let created = cairo_create(surface)
        guard let context = created, cairo_status(context) == CAIRO_STATUS_SUCCESS else {
            defer { cairo_destroy(created) }
            throw .library(String(cString: cairo_status_to_string(cairo_status(created))))
        }
        self.init(context, paints: false, keepsUnknown: keepsUnknown)
    }

    private init(_ context: OpaquePointer, paints: Bool, keepsUnknown: Bool) {
        self.context = context
        self.paints = paints
        self.keepsUnknown = keepsUnknown
        layout = pango_cairo_create_layout(context)
        let options = cairo_font_options_create()
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
        cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
        let pango = pango_layout_get_context(layout)
        pango_cairo_context_set_font_options(pango, options)
        pango_context_set_round_glyph_positions(pango, 0)
        cairo_font_options_destroy(options)
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(layout))
        if !paints { cairo_destroy(context) }
    }

    /// A line that has been set.
    struct Line {
        /// Where it begins and its baseline, in the units of the text's box.
        var x: Double
        var baseline: Double
        var text: String
        /// Units of the box in one of Pango's line.
        var unit: Double
        /// Pango's line; valid only while it is handed out.
        var glyphs: UnsafeMutablePointer<PangoLayoutLine>
    }

    /// Hands out the lines of a text from the top, as far as they begin above `bottom`.
    ///
    /// - Parameter isScaled: whether the library makes a font for the scale at which they are painted, and
    ///   keeps it, so that glyphs are painted best and soonest. Not for glyphs higher than
    ///   ``Painter/largestCached``: to measure such a font it makes another, larger by that scale once more,
    ///   which from 2,048 pixels on is more than there can be, and ends all that is painted.
    func set(
        _ block: TextBlock, above bottom: Double, isScaled: Bool = false, _ take: (Line) -> Void
    ) {
        let numbers = [
            block.fontHeight, block.left, block.top, block.width, block.height, block.pitch,
        ]
        let unit = block.fontHeight / Self.height
        guard numbers.allSatisfy(\.isFinite), unit > 0, block.width >= 0 else { return }
        prepare(block, isScaled ? unit : nil)
        let end = block.isClipped ? min(bottom, block.top + block.height) : bottom
        var text = Self.printable(block.text)
        if keepsUnknown { setText(text, width: nil, nil) } else { text = withKnownCharacters(text) }
        if block.wrapping == .atBlanks {
            setBetweenBlanks(text, block, unit, end, take)
        } else {
            let isOne = block.wrapping == .ellipsis
            if !isOne { text = parted(text, width: block.width / unit) }
            setByLibrary(text, block, unit, end, take)
        }
    }

    /// - Parameter scale: at which glyphs are painted on the context, if that counts.
    private func prepare(_ block: TextBlock, _ scale: Double?) {
        let font = pango_font_description_from_string(Self.family)
        pango_font_description_set_absolute_size(font, Self.height * Self.scale)
        if block.isBold { pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD) }
        pango_layout_set_font_description(layout, font)
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        pango_font_description_free(font)
        cairo_save(context)
        if let scale {
            cairo_scale(context, scale, scale)
        } else {
            cairo_identity_matrix(context)
        }
        pango_cairo_update_layout(context, layout)
        cairo_restore(context)
    }

    /// As much of the text as is set, with blanks for characters that have no picture. What Unicode
    /// keeps from being characters Cairo takes for no text at all where it writes some.
    private static func printable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(PictureLimits.characters) {
            let isControl = scalar.value < 32 || (127..<160).contains(scalar.value)
            if scalar.properties.isNoncharacterCodePoint {
                result.append("\u{FFFD}")
            } else {
                result.append(isControl && scalar != "\n" && scalar != "\t" ? " " : scalar)
            }
        }
        return String(result)
    }

    func setText(_ text: String, width: Double?, _ block: TextBlock?) {
        let alignment =
            switch block?.alignment {
            case .center: PANGO_ALIGN_CENTER
            case .right: PANGO_ALIGN_RIGHT
            case .natural, .left, .justified, nil: PANGO_ALIGN_LEFT
            }
        let isOneLine = block?.wrapping == .ellipsis
        pango_layout_set_alignment(layout, alignment)
        pango_layout_set_justify(layout, block?.alignment == .justified ? 1 : 0)
        pango_layout_set_ellipsize(
            layout, isOneLine ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE)
        pango_layout_set_single_paragraph_mode(layout, isOneLine ? 1 : 0)
        pango_layout_set_width(layout, width.map { Int32(min($0, Self.widest) * Self.scale) } ?? -1)
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                pango_layout_set_text(layout, $0.baseAddress, Int32($0.count))
            }
            hideHyphens(in: bytes)
        }
    }

    /// A hyphen where a word is broken would be one that nobody wrote, but for soft ones: they are at the ends
    /// of what has none.
    private func hideHyphens(in bytes: UnsafeBufferPointer<UInt8>) {
        let attributes = pango_attr_list_new()
        defer { pango_attr_list_unref(attributes) }
        var start = 0
        func hide(to end: Int) {
            guard end > start, let attribute = pango_attr_insert_hyphens_new(0) else { return }
            attribute.pointee.start_index = UInt32(start)
            attribute.pointee.end_index = UInt32(end)
            pango_attr_list_insert(attributes, attribute)
            start = end
        }
        // Without those of a text that is full of them: the library looks at all ranges for each.
        func isSoft(_ end: Int) -> Bool {
            end < bytes.count && bytes[end - 1] == 0xC2 && bytes[end] == 0xAD
        }
        let softEnds = bytes.indices.dropFirst().filter { isSoft($0) && !isSoft($0 + 2) }
        if softEnds.count <= Self.mostSoftHyphens {
            for index in softEnds { hide(to: index + 1) }
        }
        hide(to: bytes.count)
        pango_layout_set_attributes(layout, attributes)
    }
}

extension TextSetter {
    private func setByLibrary(
        _ text: String, _ block: TextBlock, _ unit: Double, _ end: Double, _ take: (Line) -> Void
    ) {
        setText(text, width: block.width / unit, block)
        let bytes = Array(text.utf8)
        let iterator = pango_layout_get_iter(layout)
        defer { pango_layout_iter_free(iterator) }
        var baseline = block.top + block.ascent
        repeat {
            guard let line = pango_layout_iter_get_line_readonly(iterator) else { return }
            guard baseline - block.ascent < end else { return }
            var place = PangoRectangle()
            pango_layout_iter_get_line_extents(iterator, nil, &place)
            let start = min(max(Int(line.pointee.start_index), 0), bytes.count)
            let length = min(max(Int(line.pointee.length), 0), bytes.count - start)
            take(
                Line(
                    x: block.left + Self.start(of: line, place, block, unit), baseline: baseline,
                    text: String(decoding: bytes[start..<start + length], as: UTF8.self),
                    unit: unit, glyphs: line))
            baseline += block.pitch
        } while pango_layout_iter_next_line(iterator) != 0
    }

    /// Where a line begins in its box. The library exchanges left and right where a paragraph runs from right
    /// to left.
    private static func start(
        of line: UnsafeMutablePointer<PangoLayoutLine>, _ place: PangoRectangle,
        _ block: TextBlock, _ unit: Double
    ) -> Double {
        let isLeftward = line.pointee.resolved_dir == PANGO_DIRECTION_RTL.rawValue
        switch block.alignment {
        case .left where isLeftward: return 0
        case .right where isLeftward: return block.width - Double(place.width) / scale * unit
        default: return Double(place.x) / scale * unit
        }
    }

    private func setBetweenBlanks(
        _ text: String, _ block: TextBlock, _ unit: Double, _ end: Double, _ take: (Line) -> Void
    ) {
        var baseline = block.top + block.ascent
        for text in lines(of: text, width: block.width / unit) {
            guard baseline - block.ascent < end else { return }
            // The editor measures each line with a blank at its end.
            setText(text + " ", width: nil, nil)
            let room = block.width - width * unit
            let x =
                switch block.alignment {
                case .natural, .left, .justified: block.left
                case .center: block.left + room / 2
                case .right: block.left + room
                }
            guard let line = pango_layout_get_line_readonly(layout, 0) else { return }
            take(Line(x: x, baseline: baseline, text: text, unit: unit, glyphs: line))
            baseline += block.pitch
        }
    }

    /// The width of what has been set.
    var width: Double {
        var place = PangoRectangle()
        pango_layout_get_extents(layout, nil, &place)
        return Double(place.width) / Self.scale
    }

    /// The lines of a text that is broken only at blanks. The editor looks at the width when it
    /// adds a word, but not when the word has a line end in it: so the last word before a line end
    /// stays on its line.
    private func lines(of text: String, width: Double) -> [String] {
        setText(" ", width: nil, nil)
        let blank = self.width
        var lines: [String] = []
        var line = ""
        var used = 0.0
        for (index, word) in text.split(separator: " ", omittingEmptySubsequences: false)
            .enumerated()
        {
            let parts = word.split(separator: "\n", omittingEmptySubsequences: false)
            setText(String(parts[0]), width: nil, nil)
            let own = self.width
            if index > 0, parts.count == 1, used + blank + own > width {
                lines.append(line)
                (line, used) = (String(word), own)
            } else {
                line += index > 0 ? " \(parts[0])" : String(parts[0])
                used += index > 0 ? blank + own : own
            }
            for part in parts.dropFirst() {
                lines.append(line)
                line = String(part)
                setText(line, width: nil, nil)
                used = self.width
            }
        }
        return lines + [line]
    }
}
