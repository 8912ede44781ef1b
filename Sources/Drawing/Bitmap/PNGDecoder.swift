import CPNGShim

extension Bitmap {
    /// The picture of a PNG file, over white where it is clear.
    ///
    /// - Throws: ``DrawingError/library(_:)`` for anything that is no such file, for one with a side above
    ///   `side`, and for one of more pixels than ``PictureLimits/bitmapPixels``.
    public init(png bytes: [UInt8], side: Int) throws(DrawingError) {
        var (width, height): (UInt32, UInt32) = (0, 0)
        guard shim_png_size(bytes, bytes.count, &width, &height) == 0 else {
            throw .library("this is no PNG file")
        }
        // Before there is room for it: the size is only what the file says.
        guard width <= side, height <= side,
            Int(width) * Int(height) <= PictureLimits.bitmapPixels
        else { throw .library("the picture is too large") }
        let size = try PixelSize(width: Int(width), height: Int(height))
        self.init(size: size)
        guard shim_png_decode(bytes, bytes.count, width, height, &pixels) == 0 else {
            throw .library("the PNG file is damaged")
        }
    }

    /// The picture made smaller to fit into a size, its sides' ratio kept; itself if it fits.
    public func fitted(into room: PixelSize) -> Bitmap {
        if size.width <= room.width, size.height <= room.height { return self }
        let target = room.fitting(width: Double(size.width), height: Double(size.height))
        var result = Bitmap(size: target)
        for y in 0..<target.height {
            let rows = span(y, target.height, size.height)
            for x in 0..<target.width {
                let columns = span(x, target.width, size.width)
                var (red, green, blue, count): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
                for row in rows {
                    for column in columns {
                        let pixel = pixels[row * size.width + column]
                        red += pixel >> 16 & 0xFF
                        green += pixel >> 8 & 0xFF
                        blue += pixel & 0xFF
                        count += 1
                    }
                }
                result.pixels[y * target.width + x] =
                    0xFF00_0000 | (red / count) << 16 | (green / count) << 8 | blue / count
            }
        }
        return result
    }

    /// The middle of the picture in the proportions `width` to `height`, where all else are dark bars: many
    /// cameras put the photo into a preview of other proportions so. Itself if there are none, or a number
    /// is not positive.
    public func withoutBars(width: Int, height: Int) -> Bitmap {
        guard width > 0, height > 0 else { return self }
        let part = size.fitting(width: Double(width), height: Double(height))
        let (left, top) = ((size.width - part.width) / 2, (size.height - part.height) / 2)
        // Next to the photo they have some of it.
        let columns = left > 0 ? left - 1..<left + part.width + 2 : 0..<size.width
        let rows = top > 0 ? top - 1..<top + part.height + 2 : 0..<size.height
        for y in 0..<size.height {
            for x in 0..<size.width where !(rows.contains(y) && columns.contains(x)) {
                let (red, green, blue) = self[x, y]
                guard max(red, green, blue) < Self.darkest else { return self }
            }
        }
        var result = Bitmap(size: part)
        for y in 0..<part.height {
            for x in 0..<part.width {
                result.pixels[y * part.width + x] = pixels[(y + top) * size.width + x + left]
            }
        }
        return result
    }

    /// Black as JPEG files have it is not always 0.
    private static let darkest: UInt8 = 48

    /// The old pixels that make a new one.
    private func span(_ index: Int, _ count: Int, _ old: Int) -> Range<Int> {
        let start = index * old / count
        return start..<max(start + 1, (index + 1) * old / count)
    }
}
