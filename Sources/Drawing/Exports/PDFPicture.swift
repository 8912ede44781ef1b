/// Makes a page of a picture as it is drawn: its pixels are packed as those of a PNG file, so they are
/// taken from one on its way.
struct PDFPicture {
    private let size: PixelSize
    private var writer = PDFWriter(reserving: 6)
    private var parts = PNGParts()

    init(_ size: PixelSize) { self.size = size }

    mutating func begin(_ take: PDFWriter.Sink) throws(DrawingError) {
        try writer.head(take)
        writer.mark(5)
        try writer.write(
            """
            5 0 obj
            << /Type /XObject /Subtype /Image /Width \(size.width) /Height \(size.height)
            /ColorSpace /DeviceRGB /BitsPerComponent 8 /Interpolate true
            /Filter /FlateDecode
            /DecodeParms << /Predictor 15 /Colors 3 /BitsPerComponent 8 /Columns \(size.width) >>
            /Length 6 0 R >>
            stream

            """, take)
    }

    /// Takes the next bytes of the PNG file.
    mutating func add(_ bytes: UnsafeRawBufferPointer, _ take: PDFWriter.Sink) throws(DrawingError)
    {
        try writer.write(parts.pixels(in: bytes)[...], take)
    }

    mutating func end(_ take: PDFWriter.Sink) throws(DrawingError) {
        try writer.write("\nendstream\nendobj\n", take)
        try writer.object(6, "\(parts.count)", take)
        try writer.page(
            size, content: "\(size.width) 0 0 \(size.height) 0 0 cm /x5 Do\n",
            resources: "/XObject << /x5 5 0 R >>", take)
        try writer.end(take)
    }
}

/// Finds the packed pixels in the bytes of a PNG file.
private struct PNGParts {
    /// How many bytes of pixels there were.
    private(set) var count = 0
    /// Bytes of the part at hand that are to come: of its head, of what it holds, of its sum.
    private var left = (head: 8, content: 0, sum: 0)
    private var head: [UInt8] = []
    private var skipped = 0

    private static let signature = 8

    mutating func pixels(in bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var pixels: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            if skipped < Self.signature {
                let skip = min(Self.signature - skipped, rest.count)
                skipped += skip
                rest = rest.dropFirst(skip)
            } else if left.head > 0 {
                head.append(rest.removeFirst())
                left.head -= 1
                if left.head == 0 {
                    left.content = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                    left.sum = 4
                }
            } else if left.content > 0 {
                let part = rest.prefix(left.content)
                if head.suffix(4).elementsEqual("IDAT".utf8) {
                    pixels += part
                    count += part.count
                }
                left.content -= part.count
                rest = rest.dropFirst(part.count)
            } else {
                let skip = min(left.sum, rest.count)
                left.sum -= skip
                rest = rest.dropFirst(skip)
                if left.sum == 0 { (left.head, head) = (8, []) }
            }
        }
        return pixels
    }
}
