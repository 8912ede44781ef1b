import Documents
import Drawing
import PathText
import Testing

/// SVG and PDF files.
@Suite struct PageExportTests {
    private let size: PixelSize
    private let slide: Slide

    init() throws {
        size = try PixelSize(width: 400, height: 300)
        let box: JSONObject = [
            "originx": .integer(100), "originy": .integer(100), "width": .integer(1500),
            "height": .integer(900), "thickness": .integer(20), "strokeColor": .string("#ff0000"),
            "fillColor": .string("#00ff00"), "fontHeight": .integer(300),
            "text": .string("a < b & c\nsecond"),
        ]
        slide = Slide(
            elements: ["rectangle", "ellipse", "text"].map { kind in
                var element = box
                element["shapeType"] = .string(kind)
                return SlideElement(element)
            })
    }

    @Test func `an SVG file has shapes and real text`() throws {
        _ = PinnedFonts.arePinned
        let file = try Picture.slide(slide, .app).svg(fitting: size)
        let output = try #require(try Python.run("Exports/read_svg.py", on: file, named: "svg"))
        let lines = output.split(separator: "\n")
        #expect(lines == ["clipPath=1 path=2 rect=2 svg=1 text=1 tspan=2", "a < b & c|second"])
    }

    @Test(.pinnedFonts)
    func `the lines of a justified text are as long in an SVG file as on the picture`() throws {
        let text: JSONObject = [
            "shapeType": .string("text"), "originx": .integer(100), "originy": .integer(0),
            "width": .integer(1000), "height": .integer(900), "fontHeight": .integer(200),
            "alignment": .string("justified"),
            "text": .string("a bb ccc dddd  e\u{a0}f gg hhh\ni j"),
        ]
        let file = try Picture.slide(Slide(elements: [SlideElement(text)]), .app).svg(fitting: size)
        let svg = try #require(String(validating: file, as: UTF8.self))
        // Each word where it begins, with its baseline.
        let words = svg.split(separator: "<tspan x=\"").dropFirst().map { piece in
            let parts = piece.split(separator: "\"")
            return (
                x: Double(parts[0]) ?? .nan, y: String(parts[2]),
                text: piece.split(separator: ">")[1]
            )
        }
        #expect(
            words.map { $0.text.prefix { $0 != "<" } } == [
                "a ", "bb ", "ccc ", "dddd  ", "e\u{a0}f ", "gg ", "hhh", "i ", "j",
            ])
        let lines = Dictionary(grouping: words, by: \.y)
        #expect(lines.count >= 3)
        #expect(lines.values.allSatisfy { $0[0].x == 100 })
        // What would be set without a stretch: blanks of 0.278 of the height, as after the last words.
        let last = try #require(words.last), first = try #require(words.dropLast().last)
        let letter = 0.222 * 200, blank = 0.278 * 200
        #expect(abs(last.x - first.x - letter - blank) < 2, "\(words)")
        let stretched = words[1].x - words[0].x - 0.556 * 200
        #expect(stretched > blank + 10, "\(words)")
    }

    @Test func `the SVG file of a scene holds its picture`() throws {
        let scene = Scene(nodes: [.solid(Solid(shape: SolidShape(.cone)))])
        let file = try Picture.scene(scene).svg(fitting: size)
        let output = try #require(try Python.run("Exports/read_svg.py", on: file, named: "svg"))
        #expect(output == "image=1 svg=1\n\n\(size.width)x\(size.height)\n")
    }

    @Test
    func `the SVG file of a scene is handed out in parts, and holds all of its picture`() throws {
        let scene = Scene(nodes: SolidKind.allCases.map { .solid(Solid(shape: SolidShape($0))) })
        let picture = Picture.scene(scene)
        let size = try PixelSize(width: 1_200, height: 1_200)
        var parts: [[UInt8]] = []
        try picture.writeSVG(fitting: size) { part in
            parts.append(Array(part))
            return true
        }
        #expect(parts.count > 2)
        #expect(parts.allSatisfy { $0.count <= 96 << 10 })
        let file = String(decoding: parts.joined(), as: UTF8.self)
        #expect(file.contains("base64,\(Base64.encode(try picture.png(fitting: size)))\"/>"))
        #expect(throws: DrawingError.refusedBySink) {
            try picture.writeSVG(fitting: size) { _ in false }
        }
    }

    @Test func `a PDF file has one page, with fonts where there is text`() throws {
        _ = PinnedFonts.arePinned
        let scene = Scene(nodes: [.solid(Solid(shape: SolidShape(.cone)))])
        for (picture, word) in [
            (Picture.slide(slide, .app), "/Font"), (.scene(scene), "/Image"),
        ] {
            let file = String(decoding: try picture.pdf(fitting: size), as: UTF8.self)
            #expect(file.hasPrefix("%PDF-1."))
            #expect(file.contains("/Count 1"))
            #expect(file.contains("400 300"))
            #expect(file.contains(word))
        }
    }

    @Test(arguments: [0xFFFF, 0xFFFE, 0xFDD0, 0x1_FFFE, 0, 0x1B])
    func `text with what is no character is drawn into every file`(_ odd: UInt32) throws {
        _ = PinnedFonts.arePinned
        let odd = try #require(Unicode.Scalar(odd))
        var slide = slide
        slide.elements[2].json["text"] = .string("a\(odd)b")
        let picture = Picture.slide(slide, .app)
        #expect(try picture.pdf(fitting: size).starts(with: "%PDF".utf8))
        let file = try picture.svg(fitting: size)
        #expect(try Python.run("Exports/read_svg.py", on: file, named: "svg") != nil)
    }

    @Test func `a PDF file made twice is the same`() throws {
        _ = PinnedFonts.arePinned
        let picture = Picture.slide(slide, .app)
        #expect(try picture.pdf(fitting: size) == picture.pdf(fitting: size))
    }

    @Test func `a PDF file of a scene has a picture of any size`() throws {
        let scene = Scene(background: Color(red: 1, green: 2, blue: 3), nodes: [])
        let size = try PixelSize(width: PictureLimits.side, height: 2_048)
        let file = try Picture.scene(scene).pdf(fitting: size)
        let output = try #require(try Python.run("Exports/read_pdf.py", on: file, named: "pdf"))
        #expect(output == "8192x2048 010203\n")
    }

    @Test(arguments: [SlideMode.app, .web])
    func `a PDF file of very many parts is made of layers, and is still one page`(
        _ mode: SlideMode
    ) throws {
        _ = PinnedFonts.arePinned
        var slide = slide
        for index in 0..<6_000 {
            slide.elements.append(
                SlideElement([
                    "shapeType": .string("circle"), "originx": .integer(index % 100 * 40),
                    "originy": .integer(index / 100 * 50), "radius": .integer(15),
                    "fillColor": .string("#357EC7"), "opacity": .number(0.5),
                ]))
        }
        slide.elements.append(slide.elements[2])
        let picture = Picture.slide(slide, mode)
        let file = try picture.pdf(fitting: size)
        #expect(try picture.pdf(fitting: size) == file)
        let output = try #require(try Python.run("Exports/read_pdf.py", on: file, named: "pdf"))
        let numbers = output.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
        // The background, two shapes and the circles.
        #expect(numbers[0] > 2 && numbers[1] == 6_003 && numbers[2] >= 1, "\(output)")
        let small = try Picture.slide(self.slide, mode).pdf(fitting: size)
        let other = try #require(try Python.run("Exports/read_pdf.py", on: small, named: "pdf"))
        #expect(other.hasPrefix("1 layers"))
    }

    @Test(.pinnedFonts)
    func `a text of many emoji is in several layers, each of them once`() throws {
        let emoji = String(
            String.UnicodeScalarView((0x1F980...0x1F9FF).compactMap { Unicode.Scalar($0) }))
        func text(_ text: String, top: Int) -> SlideElement {
            SlideElement([
                "shapeType": .string("text"), "originx": .integer(0), "originy": .integer(top),
                "width": .integer(4_096), "height": .integer(3_000), "fontHeight": .integer(130),
                "text": .string(text),
            ])
        }
        func output(_ elements: [SlideElement]) throws -> [Substring] {
            let picture = Picture.slide(Slide(elements: elements), .app)
            let file = try picture.pdf(fitting: PixelSize(width: 8_192, height: 6_144))
            let output = try Python.run("Exports/read_pdf.py", on: file, named: "pdf")
            return try #require(output).split(separator: " ")
        }
        let many = try output([
            text("first", top: 0), text("a\(emoji)b\(emoji)\nplain", top: 200),
            text("last", top: 2_800),
        ])
        // A picture takes 95 KiB, a layer 8 MiB.
        #expect(many[0] == "3" && many[6] == "256", "\(many)")
        // What is no emoji is there once, too; letters so large are filled paths.
        let none = try output([
            text("first", top: 0), text("a\nb\nplain", top: 200), text("last", top: 2_800),
        ])
        #expect(many[2] == none[2], "\(many) \(none)")
        // A layer has room for 87: a text may begin where there is none left.
        for count in 85...89 {
            let first = String(emoji.prefix(count))
            let next = try output([text(first, top: 0), text("a\(emoji.suffix(1))", top: 1_500)])
            #expect(next[2] == "2" && next[6] == "\(count + 1)", "\(count): \(next)")
        }
    }
}
