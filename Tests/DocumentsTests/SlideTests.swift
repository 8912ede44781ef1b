import DocumentFuzzing
import Documents
import Testing

/// Slides in and out, and what their elements draw.
@Suite struct SlideTests {
    @Test func `all eight types are read`() throws {
        let (slide, repairs) = try Slide.read(try Samples.read("eight.slide"))
        #expect(repairs.isEmpty)
        #expect(slide.problems.isEmpty)
        #expect(slide.title == "Eight")
        #expect(slide.canvas == Slide.CanvasSize(width: 1024, height: 768))
        let shapes = slide.elements.map(\.shape)
        let red = Color(red: 255, green: 0, blue: 0)
        #expect(
            shapes[0]
                == .line(
                    from: SlidePoint(1, 2), to: SlidePoint(3, 4),
                    SlidePaint(thickness: 5, stroke: red, fill: nil)))
        let box = SlideBox(origin: SlidePoint(10, 20), width: -30, height: 40)
        let green = Color(red: 0, green: 255, blue: 0)
        #expect(shapes[1] == .rectangle(box, SlidePaint(thickness: 2, stroke: nil, fill: green)))
        #expect(
            shapes[2]
                == .circle(
                    center: SlidePoint(100, 100), radius: 50,
                    SlidePaint(thickness: 3, stroke: .black, fill: nil)))
        guard case .curve(let curve, _) = shapes[5], case .chain(let links) = shapes[6],
            case .text(let text) = shapes[7]
        else {
            Issue.record("other shapes: \(shapes)")
            return
        }
        #expect(curve.control2 == nil)
        #expect(links.count == 2)
        guard case .curve(let link, _) = links[1] else {
            Issue.record("no curve: \(links)")
            return
        }
        #expect(link.start == SlidePoint(5, 5))
        #expect(text.text == "Hello\nWorld")
        #expect(text.alignment == .center)
        #expect(text.background == nil)
        #expect(slide.elements[7].opacity == 0.5)
        #expect(slide.elements[7].comment == "a greeting")
    }

    @Test(
        arguments: [
            (0.0, 90.0, 270.0), (90, 0, 90), (0, 360, 360), (0, 0, 0), (360, 0, 360), (0, 160, 200),
            (230, 45, 185), (-90, 0, 270),
            // Farther apart than numbers go.
            (.greatestFiniteMagnitude, -.greatestFiniteMagnitude, 256),
        ] as [(Double, Double, Double)])
    func `an arc sweeps counter-clockwise`(start: Double, end: Double, sweep: Double) {
        let arc = SlideArc(center: SlidePoint(0, 0), radius: 1, startAngle: start, endAngle: end)
        #expect(arc.sweep == sweep)
    }

    @Test(arguments: [1e308, 1.7e308, Double.greatestFiniteMagnitude, Double.infinity, Double.nan])
    func `an arc of huge angles sweeps some part of a circle`(angle: Double) {
        for (start, end) in [(angle, -angle), (-angle, angle), (0, angle), (angle, 0)] {
            let arc = SlideArc(
                center: SlidePoint(0, 0), radius: 1, startAngle: start, endAngle: end)
            #expect((0...360).contains(arc.sweep), "\(start) to \(end)")
        }
    }

    @Test func `repairs are listed and written as strict JSON`() throws {
        let (slide, repairs) = try Slide.read(try Samples.read("repairs.slide"))
        #expect(
            repairs.map(\.kind) == [
                .comment, .missingComma, .trailingComma, .trailingComma, .comment,
                .controlCharacter,
            ])
        #expect(repairs.map(\.line) == [2, 5, 5, 5, 6, 7])
        #expect(slide.elements.count == 2)
        let text = try slide.text(replacing: try Samples.read("repairs.slide"))
        #expect(throws: Never.self) { try JSONValue.read(text) }
        #expect(try Slide.read(text).slide == slide)
    }

    @Test func `problems name their keys`() throws {
        let slide = try Slide.read(try Samples.read("problems.slide")).slide
        #expect(
            slide.problems.map(\.path) == [
                "element.1.shapeType", "element.2.radius", "element.3.text",
                "element.4.elements", "element.5.strokeColor", "element.6.shapeType",
            ])
        #expect(slide.elements.map { $0.shape == nil } == [true, true, true, true, false, true])
    }

    @Test func `one edit changes only its own text`() throws {
        let bytes = try Samples.read("eight.slide")
        var slide = try Slide.read(bytes).slide
        #expect(try slide.text(replacing: bytes) == bytes)
        slide.elements[0].json["endx"] = .integer(30)
        let before = String(decoding: bytes, as: UTF8.self)
        let after = String(decoding: try slide.text(replacing: bytes), as: UTF8.self)
        let parts = before.split(separator: "\"endx\": 3,", maxSplits: 1)
        #expect(after == parts.joined(separator: "\"endx\": 30,"))
        slide.elements.removeFirst()
        let text = try slide.text(replacing: bytes)
        #expect(try Slide.read(text).slide == slide)
        #expect(String(decoding: text, as: UTF8.self).contains("    \"x-unknown\": ["))
    }

    @Test(arguments: [
        ("\"canvasWidth\":10,\"canvasHeight\":20", 10, 20), ("\"canvasWidth\":10", 4000, 3000),
        ("\"canvasWidth\":10,\"canvasHeight\":0", 4000, 3000),
        ("\"canvasWidth\":10.5,\"canvasHeight\":20", 4000, 3000), ("\"a\":1", 4000, 3000),
    ])
    func `a canvas has both sides or the usual size`(keys: String, width: Int, height: Int) throws {
        let slide = try Slide.read(Array("{\"elements\":[],\(keys)}".utf8)).slide
        #expect(slide.canvas == Slide.CanvasSize(width: width, height: height))
    }

    @Test(arguments: [
        (
            "\"shapeType\":\"text\",\"originx\":0,\"originy\":0,\"width\":1,\"height\":1,\"fontHeight\":1,"
                + "\"text\":5",
            ["element.1.text: 5 where text is expected"]
        ),
        (
            "\"shapeType\":\"rectangle\",\"originx\":1e999,\"opacity\":7",
            [
                "element.1.opacity: 7 where a number from 0 to 1",
                "element.1.originx: 1e999 where a finite number", "element.1.originy: missing",
                "element.1.width: missing", "element.1.height: missing",
            ]
        ),
        (
            "\"shapeType\":\"circle\",\"originx\":0,\"originy\":0,\"radius\":-3",
            ["element.1.radius: -3 is negative"]
        ),
        (
            #""shapeType":"text","originx":0,"originy":0,"width":5,"height":5,"fontHeight":0"#,
            ["element.1.fontHeight: 0 is not more than 0", "element.1.text: missing"]
        ),
        (
            #""shapeType":"circle","radius":-3,"strokeColor":"redd","thickness":-1"#,
            [
                "element.1.originx: missing", "element.1.originy: missing",
                "element.1.radius: -3 is negative", "element.1.strokeColor: 'redd' is not a colour",
                "element.1.thickness: not a number of 0 or more",
            ]
        ),
        (
            #""shapeType":"chain","elements":[{"shapeType":"line","endx":1,"fillColor":"bl"}]"#,
            [
                "element.1.originx: missing", "element.1.originy: missing",
                "element.1.element.1.endy: missing", "element.1.element.1.fillColor: 'bl' is not",
            ]
        ),
        (
            "\"shapeType\":\"arc\",\"originx\":0,\"originy\":0,\"radius\":\"r\"",
            [
                "element.1.radius: a string where a finite", "element.1.startAngle: missing",
                "element.1.endAngle: missing",
            ]
        ),
    ])
    func `problems name every key and the value found`(keys: String, problems: [String]) throws {
        let slide = try Slide.read(Array("{\"elements\":[{\(keys)}]}".utf8)).slide
        let found = slide.problems.map(\.description)
        #expect(found.count == problems.count, "\(found)")
        for (found, expected) in zip(found, problems) {
            #expect(found.hasPrefix(expected), "\(found)")
        }
    }

    @Test func `a wrong colour and type say what would be right wherever they are`() throws {
        let slide = try Slide.read(
            Array(
                #"{"elements": [{}, {"shapeType": 5}, {"shapeType": "star"}], "bgcolor": "zz"}"#
                    .utf8)
        ).slide
        let found = slide.problems.map(\.description)
        try #require(found.count == 4, "\(found)")
        #expect(
            found[0] == "bgcolor: 'zz' is not a colour; right would be #rrggbb, a CSS name or clear"
        )
        let said = [
            "1.shapeType: missing", "2.shapeType: 5 is unknown", "3.shapeType: 'star' is unknown",
        ]
        for (found, said) in zip(found.dropFirst(), said) {
            #expect(
                found.hasPrefix("element.\(said), so nothing is drawn; known are line"), "\(found)")
        }
    }

    @Test(arguments: ["[]", "{}", "{\"elements\":{}}", "{\"elements\":[1]}"])
    func `what is no slide is refused`(text: String) {
        #expect(throws: DocumentError.self) { try Slide.read(Array(text.utf8)) }
    }

    @Test func `bulk files give their highest version`() throws {
        let file = try SlideBulkFile.read(try Samples.read("inline.bulk")).file
        #expect(file.version.description == "10")
        #expect(file.summary == "Two")
        #expect(file.fileName(2) == "slide-2.slide")
        guard case .slides(let slides) = file.entries else {
            Issue.record("no slides: \(file)")
            return
        }
        #expect(slides.map(\.title) == ["One", "Two"])
        let addresses = try SlideBulkFile.read(try Samples.read("addresses.bulk")).file
        #expect(addresses.entries == .addresses(["https://example.org/1.slide"]))
    }

    @Test(arguments: [
        (["1.0"], "1.0"), (["1.9", "1.10", "1.2"], "1.10"), (["2", "1.10", "10"], "10"),
        (["1.0.1", "1"], "1.0.1"), (["x", "1.", ".5", "0", "-1", "1e3"], "0"),
        (["2", "99999999999999999999", "88888888888888888888"], "99999999999999999999"),
        (["010", "9", "1.0.0"], "010"),
    ])
    func `the versions of bulk files are compared number by number`(
        keys: [String], highest: String
    ) throws {
        let versions = keys.map { "\"\($0)\":[\"\($0)\"]" }.joined(separator: ",")
        let text = "{\"type\":\"bulkURLFile\",\"filenameBase\":\"a\",\(versions)}"
        let file = try SlideBulkFile.read(Array(text.utf8)).file
        #expect(file.entries == .addresses([highest]))
        #expect(file.version.description == highest)
    }

    @Test func `of one element no more problems are kept than are listed`() throws {
        let link = #"{"shapeType": "curve", "endx": 1}"#
        let links = Array(repeating: link, count: Limits.listedRepairs).joined(separator: ",")
        let text = #"{"shapeType": "chain", "originx": 0, "originy": 0, "elements": [\#(links)]}"#
        let object = try #require(try JSONValue.read(Array(text.utf8)).object)
        let element = SlideElement(object)
        #expect(element.interpreted().problems.count == Limits.listedRepairs)
    }

    @Test(arguments: ["../a", "", ".a", "a/b", "a\\u0000"])
    func `a bulk file cannot name files elsewhere`(base: String) {
        let text = "{\"type\":\"bulkURLFile\",\"filenameBase\":\"\(base)\",\"1\":[]}"
        #expect(throws: DocumentError.self) { try SlideBulkFile.read(Array(text.utf8)) }
    }

    @Test(.enabled(if: Samples.hasOriginals, Samples.withoutOriginals))
    func `a slide of the original app is read and kept`() throws {
        let bytes = try Samples.original("Shape Element Drawing Demo.slide")
        let (slide, repairs) = try Slide.read(bytes)
        #expect(repairs.isEmpty)
        #expect(slide.problems.isEmpty)
        #expect(slide.title == "#Shape Element Drawing Demo")
        #expect(slide.elements.allSatisfy { $0.shape != nil })
        #expect(try slide.text(replacing: bytes) == bytes)
    }
}
