/// Makes one page of the pages of several PDF files, which lie over each other: each becomes a form,
/// and the page paints the forms in turn. Only the file that is added is in memory.
struct PDFLayers {
    private let size: PixelSize
    private var writer = PDFWriter(reserving: 4)
    /// The numbers of the forms.
    private var forms: [Int] = []

    init(_ size: PixelSize) { self.size = size }

    /// Puts the page of a file over all before it.
    mutating func add(_ file: [UInt8], _ take: PDFWriter.Sink) throws(DrawingError) {
        if forms.isEmpty { try writer.head(take) }
        guard let layer = PDFLayer(file) else {
            throw .library("the library wrote a PDF file that cannot be read")
        }
        let base = writer.last
        writer.reserve(layer.objects.count - 1)
        for number in 1..<layer.objects.count where layer.isPart(number) {
            let (dictionary, stream) = layer.object(number)
            var text = dictionary.shifted(by: base)
            if number == layer.content {
                text = text.opening(
                    "/Type /XObject /Subtype /Form /BBox [ 0 0 \(size.width) \(size.height) ] "
                        + "/Resources \(layer.resources + base) 0 R")
                forms.append(number + base)
            }
            writer.mark(number + base)
            try writer.write(text, take)
            try writer.write(stream, take)
        }
    }

    /// Writes what joins the layers.
    mutating func end(_ take: PDFWriter.Sink) throws(DrawingError) {
        let names = forms.map { "/x\($0) \($0) 0 R" }.joined(separator: "\n")
        try writer.page(
            size, content: forms.map { "/x\($0) Do\n" }.joined(),
            resources: "/XObject <<\n\(names)\n>>", take)
        try writer.end(take)
    }
}
