/// A whole picture in memory, opaque, sRGB.
public struct Bitmap: Sendable, Equatable {
    /// How large it is.
    public let size: PixelSize
    /// Row by row from the top, without gaps: 0xFFRRGGBB in the machine's byte order.
    public package(set) var pixels: [UInt32]

    /// A picture of one colour.
    package init(size: PixelSize, color: UInt32 = 0xFFFF_FFFF) {
        self.size = size
        pixels = [UInt32](repeating: color | 0xFF00_0000, count: size.width * size.height)
    }

    /// The red, green and blue of a pixel, from the top left.
    public subscript(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8) {
        let pixel = pixels[y * size.width + x]
        return (
            UInt8(truncatingIfNeeded: pixel >> 16), UInt8(truncatingIfNeeded: pixel >> 8),
            UInt8(truncatingIfNeeded: pixel)
        )
    }
}
