import Testing

@testable import Drawing

/// PNG files become bitmaps again.
struct PNGDecoderTests {
    private func sample(_ width: Int, _ height: Int) throws -> Bitmap {
        var bitmap = Bitmap(size: try PixelSize(width: width, height: height))
        for index in bitmap.pixels.indices {
            bitmap.pixels[index] = 0xFF00_0000 | UInt32(truncatingIfNeeded: index &* 2_654_435_761)
        }
        return bitmap
    }

    @Test func `what was encoded is decoded`() throws {
        for (width, height) in [(1, 1), (3, 2), (64, 31), (256, 256)] {
            let bitmap = try sample(width, height)
            #expect(try Bitmap(png: PNGEncoder.bytes(bitmap), side: 256) == bitmap)
        }
    }

    @Test func `what is damaged, or too large, is refused`() throws {
        let bytes = try PNGEncoder.bytes(try sample(64, 64))
        #expect(throws: DrawingError.self) { try Bitmap(png: bytes, side: 63) }
        #expect(throws: DrawingError.self) { try Bitmap(png: [], side: 64) }
        for count in [8, 33, bytes.count / 2] {
            #expect(throws: DrawingError.self) {
                try Bitmap(png: Array(bytes.prefix(count)), side: 64)
            }
        }
    }

    @Test func `a smaller picture has the mean of what it stands for, and its sides' ratio`() throws
    {
        var bitmap = Bitmap(size: try PixelSize(width: 4, height: 2), color: 0)
        for index in [0, 1, 4, 5] { bitmap.pixels[index] = 0xFFFF_FFFF }
        let fitted = bitmap.fitted(into: try PixelSize(width: 2, height: 9))
        #expect(fitted.size.width == 2 && fitted.size.height == 1)
        #expect(fitted.pixels == [0xFFFF_FFFF, 0xFF00_0000])
        #expect(bitmap.fitted(into: try PixelSize(width: 4, height: 4)) == bitmap)
    }
}
