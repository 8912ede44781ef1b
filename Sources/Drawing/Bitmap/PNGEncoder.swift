import CPNGShim

/// Writes PNG files: 8-bit RGB, sRGB, level 1 and no filter, which costs a fifth of the usual time
/// for a few more bytes.
enum PNGEncoder {
    private static let level: Int32 = 1

    /// Takes the bytes of a file in order; false stops.
    typealias Sink = (UnsafeRawBufferPointer) -> Bool

    /// Draws the source straight into a file's bytes; only some rows are held at a time.
    static func write(_ source: some RowSource, to sink: Sink) throws(DrawingError) {
        var failure: DrawingError?
        withoutActuallyEscaping(sink) { sink in
            var box = SinkBox(take: sink)
            withUnsafeMutablePointer(to: &box) { box in
                do throws(DrawingError) { try write(source, box) } catch { failure = error }
            }
        }
        if let failure { throw failure }
    }

    /// A file's bytes.
    static func bytes(_ source: some RowSource) throws(DrawingError) -> [UInt8] {
        var file: [UInt8] = []
        try write(source) { bytes in
            file.append(contentsOf: bytes)
            return true
        }
        return file
    }

    private struct SinkBox {
        let take: Sink
    }

    private static func write(_ source: some RowSource, _ box: UnsafeMutablePointer<SinkBox>)
        throws(DrawingError)
    {
        let size = source.size
        let encoder = shim_png_begin(
            UInt32(size.width), UInt32(size.height), level,
            { context, bytes, count in
                guard let sink = context?.assumingMemoryBound(to: SinkBox.self) else { return -1 }
                let buffer = UnsafeRawBufferPointer(start: bytes, count: count)
                return sink.pointee.take(buffer) ? 0 : -1
            }, box)
        guard let encoder else { throw .refusedBySink }
        defer { shim_png_free(encoder) }
        try source.drawRows { (rows: UnsafeBufferPointer<UInt32>) throws(DrawingError) in
            guard shim_png_rows(encoder, rows.baseAddress, rows.count / size.width) == 0 else {
                throw .refusedBySink
            }
        }
        guard shim_png_end(encoder) == 0 else { throw .refusedBySink }
    }
}

extension Bitmap {
    /// The picture as a PNG file.
    public func png() throws(DrawingError) -> [UInt8] { try PNGEncoder.bytes(self) }
}
