import CPangoCairo

extension Picture {
    /// The picture as a PDF file of one page: slides and lists as shapes and real text, scenes as
    /// pixels. A pixel of the size asked for is a point (1/72 inch) of the page.
    ///
    /// - Throws: ``DrawingError``.
    public func pdf(fitting size: PixelSize) throws(DrawingError) -> [UInt8] {
        let size = self.size(fitting: size)
        let bytes = ByteBox()
        let surface = cairo_pdf_surface_create_for_stream(
            { context, data, count in
                guard let context, let data else { return CAIRO_STATUS_WRITE_ERROR }
                let box = Unmanaged<ByteBox>.fromOpaque(context).takeUnretainedValue()
                box.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
                return CAIRO_STATUS_SUCCESS
            }, Unmanaged.passUnretained(bytes).toOpaque(), Double(size.width), Double(size.height))
        defer { cairo_surface_destroy(surface) }
        // The time of making would be the only difference between two files of one picture.
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "")
        let created = cairo_create(surface)
        defer { cairo_destroy(created) }
        guard let context = created, cairo_status(context) == CAIRO_STATUS_SUCCESS else {
            throw .library(String(cString: cairo_status_to_string(cairo_status(created))))
        }
        if case .scene = self {
            var bitmap = try bitmap(fitting: size)
            Self.paint(&bitmap, context)
        } else {
            let sheet = try sheet(size)
            let painter = Painter(
                context: context, scaleX: Double(size.width) / sheet.width,
                scaleY: Double(size.height) / sheet.height, width: Double(size.width),
                height: Double(size.height), rows: 0..<Double(size.height))
            try painter.paint(sheet)
        }
        cairo_show_page(context)
        cairo_surface_finish(surface)
        let status = cairo_surface_status(surface)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw .library(String(cString: cairo_status_to_string(status)))
        }
        return bytes.bytes
    }

    private static func paint(_ bitmap: inout Bitmap, _ context: OpaquePointer) {
        let size = bitmap.size
        bitmap.pixels.withUnsafeMutableBytes { pixels in
            let image = cairo_image_surface_create_for_data(
                pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_RGB24,
                Int32(size.width), Int32(size.height), Int32(size.width * 4))
            cairo_set_source_surface(context, image, 0, 0)
            cairo_paint(context)
            // The page is written later, when the pixels are gone: finishing copies them.
            cairo_surface_finish(image)
            cairo_surface_destroy(image)
        }
    }

    /// What the library's function can append to.
    private final class ByteBox {
        var bytes: [UInt8] = []
    }
}
