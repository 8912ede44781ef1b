import CPangoCairo

/// A sheet as pixels, painted in strips of whole rows when all would take too much memory.
struct SheetPainting: RowSource {
    let sheet: Sheet
    let size: PixelSize

    func drawRows(_ take: (UnsafeBufferPointer<UInt32>) throws(DrawingError) -> Void)
        throws(DrawingError)
    {
        let height = min(size.height, max(1, PictureLimits.stripBytes / (4 * size.width)))
        var strip = [UInt32](repeating: 0, count: size.width * height)
        for top in stride(from: 0, to: size.height, by: height) {
            let rows = top..<min(top + height, size.height)
            var failure: DrawingError?
            strip.withUnsafeMutableBufferPointer { pixels in
                do throws(DrawingError) {
                    try paint(rows, pixels)
                    try take(UnsafeBufferPointer(rebasing: pixels[..<(rows.count * size.width)]))
                } catch { failure = error }
            }
            if let failure { throw failure }
        }
    }

    private func paint(_ rows: Range<Int>, _ pixels: UnsafeMutableBufferPointer<UInt32>)
        throws(DrawingError)
    {
        let surface = pixels.withMemoryRebound(to: UInt8.self) {
            cairo_image_surface_create_for_data(
                $0.baseAddress, CAIRO_FORMAT_ARGB32, Int32(size.width), Int32(rows.count),
                Int32(size.width * 4))
        }
        defer {
            cairo_surface_finish(surface)
            cairo_surface_destroy(surface)
        }
        let created = cairo_create(surface)
        defer { cairo_destroy(created) }
        guard let context = created, cairo_status(context) == CAIRO_STATUS_SUCCESS else {
            throw .library(String(cString: cairo_status_to_string(cairo_status(created))))
        }
        cairo_translate(context, 0, -Double(rows.lowerBound))
        let painter = Painter(
            context: context, scaleX: Double(size.width) / sheet.width,
            scaleY: Double(size.height) / sheet.height, width: Double(size.width),
            height: Double(size.height),
            rows: Double(rows.lowerBound)..<Double(rows.upperBound),
            fonts: sheet.fonts.areMany(at: Double(size.height) / sheet.height)
                ? .shared(asOutlines: true) : .ofEachHeight)
        try painter.paint(sheet)
        cairo_surface_flush(surface)
    }
}
