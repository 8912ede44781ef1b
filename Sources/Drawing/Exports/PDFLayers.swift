/// Makes one page of the pages of several PDF files, which lie over each other: each becomes a form,
/// and the page paints the forms in turn. Only the file that is added is in memory.
struct PDFLayers {
    typealias Sink = (UnsafeRawBufferPointer) -> Bool

    /// The catalog, the pages, the page, and what paints the forms.
    private static let own = 4

    private let size: PixelSize
    /// Bytes that were handed out.
    private var count = 0
    /// Where objects begin, by their numbers from 1; the first ones are written last.
    private var offsets = [Int](repeating: 0, count: own)
    /// The numbers of the forms.
    private var forms: [Int] = []

    init(_ size: PixelSize) { self.size = size }

    /// Puts the page of a file over all before it.
    mutating func add(_ file: [UInt8], _ take: Sink) throws(DrawingError) {
        if count == 0 { try write("%PDF-1.4\n%\u{B5}\u{ED}\u{AE}\u{FB}\n", take) }
        guard let layer = PDFLayer(file) else {
            throw .library("the library wrote a PDF file that cannot be read")
        }
        let base = offsets.count - 1
        offsets += Array(repeating: 0, count: layer.objects.count - 1)
        for number in 1..<layer.objects.count where layer.isPart(number) {
            let (dictionary, stream) = layer.object(number)
            var text = dictionary.shifted(by: base)
            if number == layer.content {
                text = text.opening(
                    "/Type /XObject /Subtype /Form /BBox [ 0 0 \(size.width) \(size.height) ] "
                        + "/Resources \(layer.resources + base) 0 R")
                forms.append(number + base)
            }
            offsets[number + base - 1] = count
            try write(text, take)
            try write(stream, take)
        }
    }

    /// Writes what joins the layers.
    mutating func end(_ take: Sink) throws(DrawingError) {
        let content = forms.map { "/x\($0) Do\n" }.joined()
        try write(1, "<< /Type /Catalog /Pages 2 0 R >>", take)
        try write(2, "<< /Type /Pages /Kids [ 3 0 R ] /Count 1 >>", take)
        let names = forms.map { "/x\($0) \($0) 0 R" }.joined(separator: "\n")
        try write(
            3,
            """
            << /Type /Page /Parent 2 0 R /MediaBox [ 0 0 \(size.width) \(size.height) ]
            /Contents 4 0 R
            /Group << /Type /Group /S /Transparency /I true /CS /DeviceRGB >>
            /Resources << /XObject <<
            \(names)
            >> >> >>
            """, take)
        try write(
            4, "<< /Length \(content.utf8.count) >>\nstream\n\(content)endstream", take)
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

    private mutating func write(_ number: Int, _ object: String, _ take: Sink) throws(DrawingError)
    {
        offsets[number - 1] = count
        try write("\(number) 0 obj\n\(object)\nendobj\n", take)
    }

    private mutating func write(_ text: String, _ take: Sink) throws(DrawingError) {
        try write(Array(text.utf8)[...], take)
    }

    private mutating func write(_ bytes: ArraySlice<UInt8>, _ take: Sink) throws(DrawingError) {
        guard bytes.withUnsafeBytes({ $0.isEmpty || take($0) }) else { throw .refusedBySink }
        count += bytes.count
    }
}
