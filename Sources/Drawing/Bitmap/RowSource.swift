/// Something that can be drawn from the top to the bottom without holding all of it.
protocol RowSource {
    /// The size of the whole picture.
    var size: PixelSize { get }

    /// Draws all rows from the top, some at a time, as 0xFFRRGGBB without gaps. `take` gets whole
    /// rows; what it throws ends the drawing.
    func drawRows(_ take: (UnsafeBufferPointer<UInt32>) throws(DrawingError) -> Void)
        throws(DrawingError)
}

extension RowSource {
    /// The whole picture.
    func bitmap() throws(DrawingError) -> Bitmap {
        guard size.width * size.height <= PictureLimits.bitmapPixels else {
            throw .tooLargeForMemory(width: size.width, height: size.height)
        }
        var bitmap = Bitmap(size: size)
        var next = 0
        try drawRows { (rows: UnsafeBufferPointer<UInt32>) throws(DrawingError) in
            bitmap.pixels.replaceSubrange(next..<next + rows.count, with: rows)
            next += rows.count
        }
        return bitmap
    }
}

extension Bitmap: RowSource {
    func drawRows(_ take: (UnsafeBufferPointer<UInt32>) throws(DrawingError) -> Void)
        throws(DrawingError)
    {
        var failure: DrawingError?
        pixels.withUnsafeBufferPointer { rows in
            do throws(DrawingError) { try take(rows) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
