import Documents
import Drawing
import Glibc
import Testing

/// What pictures of slides show. The canvas is 400 x 300, a pixel for a unit.
@Suite struct SlidePictureTests {
    private func picture(_ elements: [JSONObject], _ mode: SlideMode = .app) throws -> Bitmap {
        _ = PinnedFonts.arePinned
        var slide = Slide(elements: elements.map { SlideElement($0) })
        slide.canvas = try #require(Slide.CanvasSize(width: 400, height: 300))
        return try Picture.slide(slide, mode).bitmap(fitting: PixelSize(width: 400, height: 300))
    }

    private func element(_ kind: String, _ colors: [String: String], _ numbers: [String: Int])
        -> JSONObject
    {
        var object: JSONObject = ["shapeType": .string(kind)]
        for (key, value) in numbers { object[key] = .integer(value) }
        for (key, value) in colors { object[key] = .string(value) }
        return object
    }

    private static let red: UInt32 = 0xFFFF_0000
    private static let green: UInt32 = 0xFF00_FF00
    private static let white: UInt32 = 0xFFFF_FFFF

    @Test func `the fill covers the inner half of the stroke`() throws {
        let box = element(
            "rectangle", ["strokeColor": "#ff0000", "fillColor": "#00ff00"],
            ["originx": 100, "originy": 100, "width": 100, "height": 50, "thickness": 20])
        let drawn = try picture([box])
        #expect(drawn.pixels[120 * 400 + 105] == Self.green)
        #expect(drawn.pixels[120 * 400 + 95] == Self.red)
        #expect(drawn.pixels[120 * 400 + 85] == Self.white)
    }

    @Test func `what is drawn with a pen wider than it is has no hole`() throws {
        let colors = ["strokeColor": "#ff0000", "fillColor": "#00ff00"]
        let place = ["originx": 200, "originy": 150]
        let pen = ["radius": 10, "thickness": 60].merging(place) { $1 }
        let fills = [("#ff0000", 40), ("#00ff00", 10)].map { color, radius in
            element(
                "circle", ["fillColor": color], place.merging(["radius": radius]) { $1 })
        }
        let expected = try picture(fills)
        #expect(try picture([element("circle", colors, pen)]) == expected)
        let round = pen.merging(["startAngle": 0, "endAngle": 360]) { $1 }
        #expect(try picture([element("arc", colors, round)]) == expected)
        let box = [
            "originx": 190, "originy": 140, "width": -20, "height": 20, "thickness": 60,
        ]
        let mirrored = box.merging(["originx": 210]) { $1 }
        #expect(try picture([element("ellipse", colors, mirrored)]) == expected)
        // Three quarters, and as much of the disc that the other half of the pen covers.
        let part = pen.merging(["startAngle": 0, "endAngle": 90]) { $1 }
        let drawn = try picture([element("arc", ["strokeColor": "#ff0000"], part)])
        for (x, y, isRed) in [
            (200 - 35, 150, true), (200 - 5, 150 - 5, true), (200 + 12, 150 + 12, true),
            (200 + 25, 150 + 25, false), (200 - 15, 150 + 15, true), (200 + 35, 150 - 2, true),
        ] {
            let color = drawn.pixels[y * 400 + x]
            #expect(color == (isRed ? Self.red : Self.white), "\(x), \(y)")
        }
    }

    @Test func `a wide pen covers all that is near an ellipse`() throws {
        let (width, height, pen) = (200, 30, 50)
        for turned in [false, true] {
            let (across, down) = turned ? (height, width) : (width, height)
            let drawn = try picture([
                element(
                    "ellipse", ["strokeColor": "#ff0000"],
                    [
                        "originx": 200 - across / 2, "originy": 150 - down / 2, "width": across,
                        "height": down, "thickness": pen,
                    ])
            ])
            let points = (0..<3_600).map { step in
                let angle = Double(step) * .pi / 1_800
                return (200 + Double(across) / 2 * cos(angle), 150 + Double(down) / 2 * sin(angle))
            }
            for y in stride(from: 1, to: 300, by: 7) {
                for x in stride(from: 1, to: 400, by: 7) {
                    let (x0, y0) = (Double(x) + 0.5, Double(y) + 0.5)
                    let distance =
                        points.map { hypot($0.0 - x0, $0.1 - y0) }.min() ?? .infinity
                    // Not on the edge.
                    guard abs(distance - Double(pen) / 2) > 1 else { continue }
                    let isCovered = distance < Double(pen) / 2
                    let color = drawn.pixels[y * 400 + x]
                    #expect(color == (isCovered ? Self.red : Self.white), "\(x), \(y)")
                }
            }
        }
    }

    @Test(.pinnedFonts)
    func `characters that no font has are boxes that do not depend on the size`() throws {
        for side in [128, 400, 1_000] {
            func drawn(_ text: String) throws -> Bitmap {
                var slide = Slide(elements: [])
                slide.elements = [30, 90, 150].enumerated().map { index, height in
                    var text = element(
                        "text", ["fillColor": "#ff0000", "text": text],
                        ["originx": 20, "originy": 90 * index, "width": 360, "height": 90])
                    text["fontHeight"] = .integer(height)
                    return SlideElement(text)
                }
                slide.canvas = try #require(Slide.CanvasSize(width: 400, height: 300))
                return try Picture.slide(slide, .app)
                    .bitmap(fitting: PixelSize(width: side, height: side))
            }
            #expect(try drawn("Ab \u{65E5}\u{672C} yz") == drawn("Ab \u{25A1}\u{25A1} yz"))
        }
    }

    @Test func `negative sizes extend to the left and up`() throws {
        let box = element(
            "rectangle", ["fillColor": "#00ff00"],
            ["originx": 200, "originy": 150, "width": -100, "height": -50])
        let drawn = try picture([box])
        #expect(drawn.pixels[125 * 400 + 150] == Self.green)
        #expect(drawn.pixels[175 * 400 + 250] == Self.white)
    }

    @Test func `lines and curves that go on far beyond the picture are where they are`() throws {
        let far = 100_000_000
        let level = element(
            "line", ["strokeColor": "#ff0000"],
            ["originx": -far, "originy": 150, "endx": far, "endy": 150, "thickness": 10])
        let steep = element(
            "line", ["strokeColor": "#ff0000"],
            [
                "originx": 200 - far, "originy": 150 - 3 * far, "endx": 200 + far,
                "endy": 150 + 3 * far, "thickness": 10,
            ])
        let box = element(
            "rectangle", ["fillColor": "#00ff00"],
            ["originx": -far, "originy": 100, "width": 2 * far, "height": far])
        // Its top is level where it is seen.
        let ground = element(
            "circle", ["fillColor": "#00ff00"],
            ["originx": 200, "originy": 100 + far, "radius": far])
        // An eighth of a circle whose chord closes it.
        let arc = element(
            "arc", ["fillColor": "#00ff00"],
            [
                "originx": 200, "originy": 100 - far, "radius": far, "startAngle": 180,
                "endAngle": 0,
            ])
        // Goes around the picture from its left to its right, far above it.
        let around = element(
            "line", ["strokeColor": "#ff0000"],
            [
                "originx": -far / 8, "originy": -far, "endx": far, "endy": far / 8,
                "thickness": 10,
            ])
        func seen(_ element: JSONObject) throws -> [Bool] {
            let drawn = try picture([element])
            return [(200, 50), (200, 90), (200, 150), (10, 150), (390, 250)].map { x, y in
                drawn.pixels[y * 400 + x] != Self.white
            }
        }
        #expect(try seen(level) == [false, false, true, true, false])
        #expect(try seen(steep) == [false, false, true, false, false])
        #expect(try seen(box) == [false, false, true, true, true])
        #expect(try seen(ground) == [false, false, true, true, true])
        #expect(try seen(arc) == [true, true, false, false, false])
        #expect(try picture([around]).pixels.allSatisfy { $0 == Self.white })
    }

    /// Of a text in a box that has room for five times the letter m.
    private func drawn(_ text: String) throws -> [UInt32] {
        var object = element(
            "text", [:],
            ["originx": 0, "originy": 0, "width": 280, "height": 300, "fontHeight": 60])
        object["text"] = .string(text)
        return try picture([object]).pixels
    }

    @Test(.pinnedFonts)
    func `a word that is broken gets no hyphen, but a soft one is seen`() throws {
        // Each m is 50 wide.
        #expect(try drawn("mmmmmmmmm") == drawn("mmmmm\nmmmm"))
        #expect(try drawn("mmm\u{AD}mmmm") == drawn("mmm-\nmmmm"))
        #expect(try drawn("mmm\u{AD}\u{AD}\u{AD}mmmm") == drawn("mmm-\nmmmm"))
        // The library would take a minute for a slide of such texts.
        let many = String(repeating: "m\u{AD}", count: 300)
        #expect(try drawn(many) == drawn(String(repeating: "m", count: 300)))
    }

    @Test func `an arc runs counter-clockwise though angles are clockwise`() throws {
        func arc(_ start: Int, _ end: Int) throws -> [Bool] {
            let drawn = try picture([
                element(
                    "arc", ["strokeColor": "#ff0000"],
                    [
                        "originx": 200, "originy": 150, "radius": 100, "thickness": 10,
                        "startAngle": start, "endAngle": end,
                    ])
            ])
            // At 45, 135, 225 and 315 degrees clockwise from three o'clock.
            return [(271, 221), (129, 221), (129, 79), (271, 79)].map { x, y in
                drawn.pixels[y * 400 + x] == Self.red
            }
        }
        #expect(try arc(0, 90) == [false, true, true, true])
        #expect(try arc(90, 0) == [true, false, false, false])
        #expect(try arc(0, 360) == [true, true, true, true])
    }

    @Test(.pinnedFonts)
    func `a text looks alike however many heights texts have, and stays one in a PDF file`() throws
    {
        let text = element(
            "text", ["fillColor": "#000000", "text": "Some words to look at"],
            ["originx": 10, "originy": 10, "width": 390, "height": 200, "fontHeight": 40])
        // Beside the canvas.
        let others = (1...200).map { height in
            element(
                "text", ["text": "a"],
                ["originx": 500, "originy": 0, "width": 9, "height": 9, "fontHeight": height])
        }
        let pictures = try [[text], [text] + others].map { elements in
            try picture(elements).pixels.map { Double($0 & 0xFF) }
        }
        #expect(StructuralSimilarity.mean(pictures[0], pictures[1], width: 400) > 0.995)
        let slide = Slide(elements: ([text] + others).map { SlideElement($0) })
        let size = try PixelSize(width: 400, height: 300)
        let file = try Picture.slide(slide, .app).pdf(fitting: size)
        #expect(String(decoding: file, as: UTF8.self).contains("/Font"))
    }

    @Test(
        .pinnedFonts,
        arguments: [(20, 1), (240, 1), (240, 3)])
    func `emoji have their colours and their size however large they are`(
        height: Int, scale: Int
    ) throws {
        var text = element(
            "text", ["text": "\u{1F9FF}"],
            ["originx": 0, "originy": 0, "width": 400, "height": 300, "fontHeight": height])
        text["opacity"] = .number(0.5)
        var slide = Slide(elements: [SlideElement(text)])
        slide.canvas = try #require(Slide.CanvasSize(width: 400, height: 300))
        let size = try PixelSize(width: 400 * scale, height: 300 * scale)
        let drawn = try Picture.slide(slide, .app).bitmap(fitting: size)
        // The glyph is as high as the font, a fifth of it below the baseline.
        let (side, top) = (height * scale, height * scale * 3 / 20)
        for (column, row, red, green, blue) in [
            (1, 1, 255, 127, 127), (3, 1, 127, 127, 255), (1, 3, 127, 255, 127),
            (3, 3, 255, 255, 127), (5, 1, 255, 255, 255),
        ] {
            let found = drawn[side * column / 4, top + side * row / 4]
            let differences = [
                Int(found.red) - red, Int(found.green) - green, Int(found.blue) - blue,
            ]
            #expect(differences.allSatisfy { abs($0) <= 2 }, "\(column), \(row): \(found)")
        }
    }

    @Test(.pinnedFonts, arguments: [2_000, 2_100, 5_000, 16_000])
    func `a text can be thousands of pixels high`(height: Int) throws {
        let text = element(
            "text", ["fillColor": "#ff0000", "text": "\u{2588}"],
            [
                "originx": 0, "originy": -height / 2, "width": 2 * height, "height": 2 * height,
                "fontHeight": height,
            ])
        #expect(try picture([text]).pixels.contains(Self.red))
        let slide = Slide(elements: [SlideElement(text)])
        let size = try PixelSize(width: 400, height: 300)
        let file = try Picture.slide(slide, .app).pdf(fitting: size)
        #expect(file.starts(with: Array("%PDF".utf8)))
    }

    @Test(arguments: [
        " \u{5BF}\u{45A}", "\u{5D2}\u{4B0} \u{200D}\u{5D3}", "\u{603}\u{1176}\u{616}",
        String(repeating: "\u{603}", count: 200) + "\u{1176}\u{1176}\u{1176}\u{616}",
        " \u{650}\u{64B}  !\u{6BE}", "N\u{1F3FE}/", "\u{1F3FD}\u{1F3FD}-",
        "\u{110BD}\u{1F1E6}\u{2026}",
    ])
    func `a text of marks of several scripts is set in a box however narrow`(text: String) throws {
        _ = PinnedFonts.arePinned
        for width in [0.0, 0.01, 0.25, 0.5, 1, 20, 40] {
            var box = element(
                "text", ["fillColor": "#ff0000", "text": text],
                ["originx": 0, "originy": 0, "height": 200, "fontHeight": 100])
            box["width"] = .number(100 * width)
            let slide = Slide(elements: [SlideElement(box)])
            // The library ends the process of who asks for what it cannot do.
            #expect(
                try Picture.slide(slide, .app).svg(fitting: PixelSize(width: 40, height: 30)).count
                    > 0)
        }
    }

    @Test(.pinnedFonts)
    func `a line of several scripts that is broken within a word is full`() throws {
        // Each m is 50 wide, and the letter of the other script about as much.
        #expect(try drawn("mЖmmmmmmm") == drawn("mЖmmm\nmmmm"))
    }

    @Test func `the app draws texts above shapes and the web editor in order`() throws {
        let text = element(
            "text", ["fillColor": "#ff0000", "text": "████████"],
            ["originx": 0, "originy": 0, "width": 400, "height": 200, "fontHeight": 100])
        let cover = element(
            "rectangle", ["fillColor": "#00ff00"],
            ["originx": 0, "originy": 0, "width": 400, "height": 300])
        func reds(_ mode: SlideMode) throws -> Int {
            try picture([text, cover], mode).pixels.count { $0 == Self.red }
        }
        #expect(try reds(.app) > 1000)
        #expect(try reds(.web) == 0)
    }

    @Test func `the app clips a text to its box on its background`() throws {
        let text = element(
            "text",
            ["fillColor": "#ff0000", "bgcolor": "#00ff00", "text": "One two three four five six"],
            ["originx": 100, "originy": 100, "width": 100, "height": 50, "fontHeight": 60])
        let app = try picture([text])
        for y in 0..<300 {
            for x in 0..<400 where !(100..<200).contains(x) || !(100..<150).contains(y) {
                #expect(app.pixels[y * 400 + x] == Self.white)
            }
        }
        #expect(app.pixels[149 * 400 + 199] == Self.green)
        let web = try picture([text], .web)
        #expect(!web.pixels.contains(Self.green))
        #expect(web.pixels[160 * 400..<300 * 400].contains { $0 != Self.white })
    }
}
