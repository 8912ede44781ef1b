import CPangoCairo

/// A PDF file of one page, as cairo writes it.
enum PDFPage {
    /// Paints the page and hands its bytes out in order.
    ///
    /// - Parameter isPlain: whether the file has its objects and their table as text, whatever cairo's
    ///   release makes of later versions of the format.
    static func write(
        _ size: PixelSize, isPlain: Bool = false, to take: (UnsafeRawBufferPointer) -> Bool,
        _ paint: (OpaquePointer) throws(DrawingError) -> Void
    ) throws(DrawingError) {
        var failure: DrawingError?
        withoutActuallyEscaping(take) { take in
            var sink = Sink(take: take)
            withUnsafeMutablePointer(to: &sink) { sink in
                do throws(DrawingError) { try write(size, isPlain, sink, paint) } catch {
                    failure = sink.pointee.hasRefused ? .refusedBySink : error
                }
            }
        }
        if let failure { throw failure }
    }

    /// What the library's function hands bytes to.
    private struct Sink {
        let take: (UnsafeRawBufferPointer) -> Bool
        var hasRefused = false
    }

    private static func write(
        _ size: PixelSize, _ isPlain: Bool, _ sink: UnsafeMutablePointer<Sink>,
        _ paint: (OpaquePointer) throws(DrawingError) -> Void
    ) throws(DrawingError) {
        let surface = cairo_pdf_surface_create_for_stream(
            { context, data, count in
                guard let context, let data else { return CAIRO_STATUS_WRITE_ERROR }
                let sink = context.assumingMemoryBound(to: Sink.self)
                let bytes = UnsafeRawBufferPointer(start: data, count: Int(count))
                guard !sink.pointee.hasRefused, sink.pointee.take(bytes) else {
                    sink.pointee.hasRefused = true
                    return CAIRO_STATUS_WRITE_ERROR
                }
                return CAIRO_STATUS_SUCCESS
            }, sink, Double(size.width), Double(size.height))
        defer { cairo_surface_destroy(surface) }
        if isPlain { cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4) }
        // The time of making would be the only difference between two files of one picture.
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "")
        let created = cairo_create(surface)
        defer { cairo_destroy(created) }
        guard let context = created, cairo_status(context) == CAIRO_STATUS_SUCCESS else {
            throw .library(String(cString: cairo_status_to_string(cairo_status(created))))
        }
        try paint(context)
        cairo_show_page(context)
        cairo_surface_finish(surface)
        let status = cairo_surface_status(surface)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw .library(String(cString: cairo_status_to_string(status)))
        }
    }
}
