import CPNG
import Drawing

/// A PNG file read back by libpng's own reader.
struct DecodedPNG {
    let width: Int
    let height: Int
    /// RGB, row by row.
    let bytes: [UInt8]

    /// Nil if libpng does not take the file.
    init?(_ file: [UInt8]) {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        guard png_image_begin_read_from_memory(&image, file, file.count) != 0 else { return nil }
        image.format = 2  // PNG_FORMAT_RGB: colour, no alpha
        width = Int(image.width)
        height = Int(image.height)
        var white = png_color(red: 255, green: 255, blue: 255)
        var pixels = [UInt8](repeating: 0, count: width * height * 3)
        guard png_image_finish_read(&image, &white, &pixels, 0, nil) != 0 else { return nil }
        bytes = pixels
    }

    /// The same as a picture.
    init(_ bitmap: Bitmap) {
        width = bitmap.size.width
        height = bitmap.size.height
        bytes = bitmap.pixels.flatMap { pixel in
            [16, 8, 0].map { UInt8(truncatingIfNeeded: pixel >> $0) }
        }
    }

    /// Brightness of each pixel, 0 to 255.
    var gray: [Double] {
        (0..<width * height).map { index in
            let red = Double(bytes[3 * index]) * 0.299
            let green = Double(bytes[3 * index + 1]) * 0.587
            return red + green + Double(bytes[3 * index + 2]) * 0.114
        }
    }
}
