import Testing

@testable import Drawing

/// The taking apart of PDF files that lie over each other in another one.
@Suite struct PDFLayerTests {
    @Test func `what a font leads to is found whatever it is called`() throws {
        let file = Self.file([
            "<< /Length 3 >>\nstream\n1 g\nendstream",
            "<< /Font << /f 3 0 R >> >>",
            "<< /Type /Font\n   /BaseFont /ABCDEF+BitstreamVeraSans-Roman\n   /FontDescriptor 4 0 R\n>>",
            "<< /Type /FontDescriptor\n   /FontName /ABCDEF+BitstreamVeraSans-Roman\n   /FontFile2 5 0 R\n>>",
            "<< /Length 1 >>\nstream\nF\nendstream",
        ])
        let size = try PixelSize(width: 10, height: 10)
        var bytes: [UInt8] = []
        func take(_ part: UnsafeRawBufferPointer) -> Bool {
            bytes += part
            return true
        }
        var layers = PDFLayers(size)
        // Four objects are the page's own, and eight each file's.
        for _ in 1...2 { try layers.add(file, take) }
        let text = String(decoding: bytes, as: UTF8.self)
        for base in [4, 12] {
            #expect(text.contains("/FontDescriptor \(base + 4) 0 R"), "\(text)")
            #expect(text.contains("/FontFile2 \(base + 5) 0 R"), "\(text)")
        }
    }

    /// A file of objects, of which the first are a page's content and resources, as cairo lays it out.
    private static func file(_ objects: [String]) -> [UInt8] {
        let count = objects.count
        let frame = [
            "<< /Type /Page\n   /Contents 1 0 R\n   /Resources 2 0 R\n>>",
            "<< /Type /Pages\n   /Kids [ \(count + 1) 0 R ]\n   /Count 1\n>>",
            "<< /Type /Catalog\n   /Pages \(count + 2) 0 R\n>>",
        ]
        var text = "%PDF-1.4\n"
        var table = "xref\n0 \(count + 4)\n0000000000 65535 f \n"
        for (index, object) in (objects + frame).enumerated() {
            let digits = String(text.utf8.count)
            table += String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n"
            text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let trailer = "trailer\n<< /Size \(count + 4)\n   /Root \(count + 3) 0 R\n>>\n"
        return Array("\(text)\(table)\(trailer)startxref\n\(text.utf8.count)\n%%EOF\n".utf8)
    }
}
