/// Writes the objects of a PDF file and the table of them, in order, to who takes the bytes.
struct PDFWriter {
    typealias Sink = (UnsafeRawBufferPointer) -> Bool

    /// Bytes that were handed out.
    private(set) var count = 0
    /// Where objects begin, by their numbers from 1.
    private var offsets: [Int]

    /// A file whose first objects have numbers before they are written. The first is the catalog.
    init(reserving reserved: Int) { offsets = Array(repeating: 0, count: reserved) }

    /// The number of the last object.
    var last: Int { offsets.count }

    /// Gives numbers to more objects.
    mutating func reserve(_ more: Int) { offsets += Array(repeating: 0, count: more) }

    mutating func head(_ take: Sink) throws(DrawingError) {
        // Bytes beyond ASCII say that it is no text.
        try write("%PDF-1.4\n%\u{B5}\u{ED}\u{AE}\u{FB}\n", take)
    }

    /// An object begins here.
    mutating func mark(_ number: Int) { offsets[number - 1] = count }

    /// A whole object.
    mutating func object(_ number: Int, _ text: String, _ take: Sink) throws(DrawingError) {
        mark(number)
        try write("\(number) 0 obj\n\(text)\nendobj\n", take)
    }

    mutating func write(_ text: String, _ take: Sink) throws(DrawingError) {
        try write(Array(text.utf8)[...], take)
    }

    mutating func write(_ bytes: ArraySlice<UInt8>, _ take: Sink) throws(DrawingError) {
        guard bytes.withUnsafeBytes({ $0.isEmpty || take($0) }) else { throw .refusedBySink }
        count += bytes.count
    }

    /// Catalog, pages and a page that is all there is, as the objects 1 to 4.
    mutating func page(
        _ size: PixelSize, content: String, resources: String, _ take: Sink
    ) throws(DrawingError) {
        try object(1, "<< /Type /Catalog /Pages 2 0 R >>", take)
        try object(2, "<< /Type /Pages /Kids [ 3 0 R ] /Count 1 >>", take)
        try object(
            3,
            """
            << /Type /Page /Parent 2 0 R /MediaBox [ 0 0 \(size.width) \(size.height) ]
            /Contents 4 0 R
            /Group << /Type /Group /S /Transparency /I true /CS /DeviceRGB >>
            /Resources << \(resources) >> >>
            """, take)
        try object(
            4, "<< /Length \(content.utf8.count) >>\nstream\n\(content)endstream", take)
    }

    /// The table of the objects.
    mutating func end(_ take: Sink) throws(DrawingError) {
        let start = count
        var table = "xref\n0 \(offsets.count + 1)\n0000000000 65535 f \n"
        for offset in offsets {
            let digits = String(offset)
            table += String(repeating: "0", count: max(0, 10 - digits.count)) + digits
            table += offset == 0 ? " 00000 f \n" : " 00000 n \n"
        }
        try write(
            table + "trailer\n<< /Size \(offsets.count + 1) /Root 1 0 R >>\n"
                + "startxref\n\(start)\n%%EOF\n", take)
    }
}
