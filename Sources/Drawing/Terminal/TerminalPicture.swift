import CChafa
import Documents
internal import PathText

/// How a terminal takes pictures. Which of them it understands has to be asked; this only encodes.
public enum TerminalGraphics: Sendable, CaseIterable, Hashable {
    /// The kitty graphics protocol, with the picture as a PNG file in pieces.
    case kitty
    /// Sixel, as of the VT340.
    case sixel
    /// The inline images of iTerm2, with the picture as a PNG file.
    case iTerm2
    /// Characters: the upper half of each cell in one colour, the lower in another, in 24 bits.
    case halfBlocks
}

extension Bitmap {
    /// What to send to a terminal to show the picture at the cursor, `columns` cells wide and
    /// `rows` high. The cursor ends on the row below (half blocks: after the last row).
    ///
    /// Half blocks have one pixel for a column and two for a row, so the bitmap should have that
    /// size; of another size, the nearest pixels are taken. The others scale to the cells, except
    /// sixel, which has no cells: its pixels are those of the terminal.
    ///
    /// - Throws: ``DrawingError/library(_:)`` if sixels cannot be made.
    public func terminalBytes(_ graphics: TerminalGraphics, columns: Int, rows: Int)
        throws(DrawingError) -> [UInt8]
    {
        let columns = max(1, columns)
        let rows = max(1, rows)
        switch graphics {
        case .kitty: return try kitty(columns, rows)
        case .iTerm2:
            let png = try PNGEncoder.bytes(self)
            let start =
                "\u{1B}]1337;File=inline=1;size=\(png.count);width=\(columns);height=\(rows)"
                + ";preserveAspectRatio=0:"
            return Array(start.utf8) + Base64.encodedBytes(png[...]) + Array("\u{7}\n".utf8)
        case .halfBlocks: return halfBlocks(columns, rows)
        case .sixel: return try sixel()
        }
    }

    /// The protocol takes at most 4096 bytes of text at a time.
    private func kitty(_ columns: Int, _ rows: Int) throws(DrawingError) -> [UInt8] {
        let text = Base64.encodedBytes(try PNGEncoder.bytes(self)[...])
        var output: [UInt8] = []
        var start = 0
        while start < text.count {
            let end = min(start + 4096, text.count)
            let keys = start == 0 ? "a=T,f=100,q=2,c=\(columns),r=\(rows)," : ""
            output += Array("\u{1B}_G\(keys)m=\(end < text.count ? 1 : 0);".utf8)
            output += text[start..<end]
            output += Array("\u{1B}\\".utf8)
            start = end
        }
        return output + Array("\n".utf8)
    }

    private func halfBlocks(_ columns: Int, _ rows: Int) -> [UInt8] {
        var output = ""
        func pixel(_ column: Int, _ half: Int) -> UInt32 {
            let x = (2 * column + 1) * size.width / (2 * columns)
            let y = (2 * half + 1) * size.height / (4 * rows)
            return pixels[y * size.width + x]
        }
        func parts(_ pixel: UInt32) -> String {
            "\(pixel >> 16 & 0xFF);\(pixel >> 8 & 0xFF);\(pixel & 0xFF)"
        }
        for row in 0..<rows {
            var (upper, lower): (UInt32?, UInt32?)
            for column in 0..<columns {
                let (above, below) = (pixel(column, 2 * row), pixel(column, 2 * row + 1))
                if above != upper { output += "\u{1B}[38;2;\(parts(above))m" }
                if below != lower { output += "\u{1B}[48;2;\(parts(below))m" }
                (upper, lower) = (above, below)
                output += "\u{2580}"
            }
            output += "\u{1B}[0m\n"
        }
        return Array(output.utf8)
    }
}

extension Bitmap {
    /// One cell for the whole picture makes libchafa keep its pixels as they are. It would leave
    /// out what does not fill a band of six rows, so the last row is repeated to fill it.
    private func sixel() throws(DrawingError) -> [UInt8] {
        let height = (size.height + 5) / 6 * 6
        let config = chafa_canvas_config_new()
        defer { chafa_canvas_config_unref(config) }
        chafa_canvas_config_set_pixel_mode(config, CHAFA_PIXEL_MODE_SIXELS)
        chafa_canvas_config_set_canvas_mode(config, CHAFA_CANVAS_MODE_TRUECOLOR)
        chafa_canvas_config_set_geometry(config, 1, 1)
        chafa_canvas_config_set_cell_geometry(config, Int32(size.width), Int32(height))
        // Drawn pictures have few colours; dithering would only add noise.
        chafa_canvas_config_set_dither_mode(config, CHAFA_DITHER_MODE_NONE)
        guard let canvas = chafa_canvas_new(config) else { throw .library("no sixel canvas") }
        defer { chafa_canvas_unref(canvas) }
        let last = pixels.suffix(size.width)
        let filled = (size.height..<height).reduce(into: pixels) { filled, _ in filled += last }
        let bytes = filled.flatMap { pixel in
            [16, 8, 0, 24].map { UInt8(truncatingIfNeeded: pixel >> $0) }
        }
        chafa_canvas_draw_all_pixels(
            canvas, CHAFA_PIXEL_RGBA8_UNASSOCIATED, bytes, Int32(size.width), Int32(height),
            Int32(size.width * 4))
        // Without a terminal's description, the sequences of the standard.
        let terminal = chafa_term_info_new()
        defer { chafa_term_info_unref(terminal) }
        for (sequence, text) in [
            (CHAFA_TERM_SEQ_BEGIN_SIXELS, "\u{1B}P%1;%2;%3q"),
            (CHAFA_TERM_SEQ_END_SIXELS, "\u{1B}\\"),
        ] {
            chafa_term_info_set_seq(terminal, sequence, text, nil)
        }
        guard let printed = chafa_canvas_print(canvas, terminal) else {
            throw .library("no sixels")
        }
        defer { g_string_free(printed, 1) }
        let output = UnsafeRawBufferPointer(
            start: printed.pointee.str, count: Int(printed.pointee.len))
        return Array(output) + Array("\n".utf8)
    }
}
