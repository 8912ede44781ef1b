import Documents
import Drawing
import Probing
import Testing

/// Slides made to be trouble.
@Suite struct HostileSlideTests {
    private static let numbers = [
        "0", "-1", "1e300", "-1e300", "1e38", "-7e8", "1e-300", "4000", "0.5", "99999999999",
    ]
    private static let texts = [
        "", "abc", "\u{0}\u{7F}\n\n\t", "📖\u{202E}\u{301}", String(repeating: "x", count: 30_000),
        String(repeating: "a b\n", count: 5_000), "\u{10FFFF}\u{FFFF}\u{200D}",
    ]
    private static let keys = [
        "originx", "originy", "endx", "endy", "width", "height", "radius", "thickness",
        "startAngle", "endAngle", "controlPoint1x", "controlPoint1y", "controlPoint2x",
        "controlPoint2y", "fontHeight", "opacity",
    ]

    @Test func `no number or text of a slide crashes a picture or an export`() throws {
        _ = PinnedFonts.arePinned
        var random = SplitMix(seed: 11)
        let size = try PixelSize(width: 40, height: 30)
        let kinds = ["line", "rectangle", "circle", "arc", "ellipse", "curve", "text"]
        for round in 0..<20 {
            let elements = try kinds.map { kind in
                var object: JSONObject = [
                    "shapeType": .string(kind), "strokeColor": .string("#ff000080"),
                    "fillColor": .string("#00ff00"),
                    "text": .string(Self.texts[round % Self.texts.count]),
                    "alignment": .string(["left", "center", "right", "justified"][round % 4]),
                ]
                for key in Self.keys {
                    let number = Self.numbers.randomElement(using: &random) ?? "1"
                    object[key] = try JSONValue.read(Array(number.utf8))
                }
                return SlideElement(object)
            }
            let slide = Slide(elements: elements)
            for mode in [SlideMode.app, .web] {
                #expect(try Picture.slide(slide, mode).bitmap(fitting: size).pixels.count == 1200)
            }
            let picture = Picture.slide(slide, .app)
            #expect(try !picture.svg(fitting: size).isEmpty)
            #expect(try !picture.pdf(fitting: size).isEmpty)
        }
    }

    @Test func `an arc between angles farther apart than numbers go is drawn`() throws {
        let size = try PixelSize(width: 40, height: 30)
        let arc: JSONObject = [
            "shapeType": .string("arc"), "originx": .integer(2000), "originy": .integer(1500),
            "radius": .integer(900), "startAngle": .number(1e308), "endAngle": .number(-1e308),
        ]
        let slide = Slide(elements: [SlideElement(arc)])
        #expect(try Picture.slide(slide, .app).bitmap(fitting: size).pixels.count == 1200)
        #expect(try !Picture.slide(slide, .app).svg(fitting: size).isEmpty)
    }

    @Test func `large letters on a canvas that is very narrow leave the picture be`() throws {
        _ = PinnedFonts.arePinned
        let text: JSONObject = [
            "shapeType": .string("text"), "originx": .integer(0), "originy": .integer(0),
            "width": .integer(10), "height": .integer(900), "fontHeight": .integer(1_000_000),
            "text": .string("abc"),
        ]
        var slide = Slide(elements: [SlideElement(text)])
        slide.canvas = try #require(Slide.CanvasSize(width: 2, height: 100_000))
        let size = try PixelSize(width: 256, height: 256)
        #expect(try Picture.slide(slide, .app).bitmap(fitting: size).pixels.count == 256)
    }

    @Test func `a text without a box counts as a page of paint`() throws {
        _ = PinnedFonts.arePinned
        let text: JSONObject = [
            "shapeType": .string("text"), "originx": .integer(0), "originy": .integer(0),
            "width": .integer(100), "height": .integer(100), "fontHeight": .integer(40),
            "text": .string("a"),
        ]
        let slide = Slide(
            elements: Array(repeating: SlideElement(text), count: PictureLimits.overdraw * 3 / 2))
        let size = try PixelSize(width: 2048, height: 1536)
        // In the app's mode it has a box.
        #expect(try Picture.slide(slide, .app).bitmap(fitting: size).pixels.count == 2048 * 1536)
        #expect(throws: DrawingError.tooMuchOverdraw) {
            try Picture.slide(slide, .web).bitmap(fitting: size)
        }
    }

    @Test func `a million full pages of paint are refused, not painted`() throws {
        let cover: JSONObject = [
            "shapeType": .string("rectangle"), "fillColor": .string("#00ff0001"),
            "originx": .integer(0), "originy": .integer(0), "width": .integer(4000),
            "height": .integer(3000),
        ]
        let slide = Slide(
            elements: Array(repeating: SlideElement(cover), count: PictureLimits.marks))
        let size = try PixelSize(width: 1024, height: 768)
        #expect(throws: DrawingError.tooMuchOverdraw) {
            try Picture.slide(slide, .app).png(fitting: size)
        }
        let more = Slide(
            elements: Array(repeating: SlideElement(cover), count: PictureLimits.marks + 1))
        #expect(
            throws: DrawingError.tooManyParts(
                count: PictureLimits.marks + 1, limit: PictureLimits.marks)
        ) { try Picture.slide(more, .app).png(fitting: size) }
    }
}
