import Documents
import Drawing
import Testing

/// PNG files and the sizes of pictures.
@Suite struct PNGTests {
    private let scene = Scene(nodes: [.solid(Solid(shape: SolidShape(.torus)))])

    @Test func `another reader finds the same pixels`() throws {
        let size = try PixelSize(width: 97, height: 61)
        let picture = Picture.scene(scene)
        let read = try #require(DecodedPNG(picture.png(fitting: size)))
        let drawn = try picture.bitmap(fitting: size)
        #expect(read.width == 97 && read.height == 61)
        #expect(read.bytes == DecodedPNG(drawn).bytes)
    }

    @Test func `strips join without a seam`() throws {
        // 8192 x 600 is painted in two strips.
        let large = try PixelSize(width: 8192, height: 600)
        var shape: JSONObject = ["shapeType": .string("circle"), "thickness": .integer(9)]
        for (key, value) in [("originx", 500), ("originy", 500), ("radius", 400)] {
            shape[key] = .integer(value)
        }
        var slide = Slide(elements: [SlideElement(shape)])
        slide.canvas = try #require(Slide.CanvasSize(width: 8192, height: 600))
        let read = try #require(DecodedPNG(Picture.slide(slide, .app).png(fitting: large)))
        let whole = try Picture.slide(slide, .app).bitmap(fitting: large)
        #expect(read.bytes == DecodedPNG(whole).bytes)
        // The circle's left end, in the second strip's rows too.
        #expect(whole[500, 100].red == 0)
        #expect(whole[100, 500].red == 0)
        #expect(whole[900, 500].red == 0)
    }

    @Test func `a sink that refuses ends the drawing`() throws {
        let size = try PixelSize(width: 64, height: 64)
        #expect(throws: DrawingError.refusedBySink) {
            try Picture.scene(scene).writePNG(fitting: size) { _ in false }
        }
    }

    @Test func `sizes beyond the limits are refused`() {
        for (width, height) in [(0, 5), (5, 0), (-1, 5), (PictureLimits.side + 1, 5)] {
            #expect(throws: DrawingError.size(width: width, height: height)) {
                try PixelSize(width: width, height: height)
            }
        }
    }

    @Test func `a slide keeps the proportions of its canvas`() throws {
        let picture = Picture.slide(Slide(), .app)
        let wide = try PixelSize(width: 2000, height: 300)
        let high = try PixelSize(width: 400, height: 5000)
        #expect(try picture.size(fitting: wide) == PixelSize(width: 400, height: 300))
        #expect(try picture.size(fitting: high) == PixelSize(width: 400, height: 300))
    }
}
