import Documents
import Drawing
import Testing

/// The one slide of which there are pictures by the original programs.
@Suite(
    .pinnedFonts,
    .enabled(if: RealDocuments.areThere, "no documents of the original apps beside the project"))
struct WebEditorTests {
    private let slide: Slide
    private let size: PixelSize

    init() throws {
        size = try PixelSize(width: 1024, height: 768)
        slide = try Slide.read(RealDocuments.read("Shape Element Drawing Demo.slide")).slide
    }

    /// Pixels outside of all boxes of texts: the app's picture shows longer texts than the document
    /// now has.
    private func outsideOfTexts(_ slide: Slide) -> [Bool] {
        var counting = [Bool](repeating: true, count: size.width * size.height)
        for case .text(let text)? in slide.elements.map(\.shape) {
            let scale = Double(size.width) / Double(slide.canvas.width)
            let box = text.box
            for y in Int(box.origin.y * scale)...Int((box.origin.y + box.height) * scale) + 1 {
                for x in Int(box.origin.x * scale)...Int((box.origin.x + box.width) * scale) + 1
                where x < size.width && y < size.height {
                    counting[y * size.width + x] = false
                }
            }
        }
        return counting
    }

    /// The pixels that texts change, by comparing pictures with and without them.
    private func untouchedByText(_ slide: Slide, _ mode: SlideMode) throws -> [Bool] {
        var shapes = slide
        shapes.elements.removeAll { $0.shapeType == "text" }
        let with = try Picture.slide(slide, mode).bitmap(fitting: size)
        let without = try Picture.slide(shapes, mode).bitmap(fitting: size)
        return zip(with.pixels, without.pixels).map { $0 == $1 }
    }

    private func picture(_ name: String) throws -> DecodedPNG {
        try #require(DecodedPNG(RealDocuments.read(name)))
    }

    @Test func `the web mode looks like the web editor, texts included`() throws {
        let reference = try picture("Shape Element Drawing Demo.web-editor-1024x768.png")
        let ours = try Picture.slide(slide, .web).bitmap(fitting: size)
        let similarity = StructuralSimilarity.mean(
            DecodedPNG(ours).gray, reference.gray, width: size.width)
        print("SSIM with texts: \(similarity)")
        #expect(similarity >= 0.985)
    }

    @Test func `shapes look as in the web editor`() throws {
        let reference = try picture("Shape Element Drawing Demo.web-editor-1024x768.png")
        let counting = try untouchedByText(slide, .web)
        let ours = try Picture.slide(slide, .web).bitmap(fitting: size)
        let similarity = StructuralSimilarity.mean(
            DecodedPNG(ours).gray, reference.gray, width: size.width, counting: counting)
        print("SSIM of shapes: \(similarity)")
        #expect(similarity >= 0.998)
    }

    @Test func `shapes look as in the app`() throws {
        let reference = try picture("Shape Element Drawing Demo.ios-app.png")
        let counting = outsideOfTexts(slide)
        let ours = try Picture.slide(slide, .app).bitmap(fitting: size)
        let similarity = StructuralSimilarity.mean(
            DecodedPNG(ours).gray, reference.gray, width: size.width, counting: counting)
        print("SSIM of shapes, app: \(similarity)")
        #expect(similarity >= 0.98)
    }
}
