import Documents
import Editing
import Testing

@Suite struct SlideEditTests {
    @Test func `what is wrong is told with the paths that edits take`() throws {
        let text = """
            {"elements": [
              {"shapeType": "circle", "originx": 0, "originy": 0, "radius": 1},
              {"shapeType": "circle", "originx": 0, "originy": 0, "radius": -3},
              {"shapeType": "chain", "originx": 0, "originy": 0, "elements": [
                {"shapeType": "line", "endx": 1, "endy": 1},
                {"shapeType": "line", "endx": 2, "endy": 2, "thickness": -7}]}]}
            """
        var slide = try EditableDocument.of(text, .slide)
        let paths = slide.problems().map { String($0.prefix { $0 != ":" }) }
        #expect(paths == ["element.2.radius", "element.3.element.2.thickness"])
        let values = try paths.map { try slide.value(at: $0) }
        #expect(values == ["-3", "-7"])
        _ = try slide.run(paths.map { "set \($0)=4" }.joined(separator: "\n"))
        #expect(slide.problems().isEmpty)
        let error = #expect(throws: DocumentError.self) {
            try Slide.read(Array("{\"elements\": [{}, 1]}".utf8))
        }
        #expect(error?.place == .path("element.2"))
    }

    @Test func `each verb tells what changed`() throws {
        var slide = try EditableDocument.of(Sample.slide, .slide)
        #expect(
            try slide.run(
                """
                set element.2.fillColor=red circle.1.radius=20 greeting.fontHeight=14
                set canvas.width=500
                color 2 blue
                color 2 fill=lime stroke=black
                text greeting 'Good\\nbye'
                rename 2 dot
                move dot 1,1
                move line.1 to=5,5
                background #eee
                title Two
                remove line.2
                unset dot.stroke
                """) == [
                    "element.2.radius: 10 -> 20", "greeting.fontHeight: 12 -> 14",
                    "canvas.width: 400 -> 500", "element.2.fillColor: #FF0000 -> #0000ff",
                    "element.2.fillColor: #0000ff -> #00ff00",
                    "element.2.strokeColor: set to #000000", "greeting.text: Hello -> Good\\nbye",
                    "element.2.comment: set to dot", "dot.originx: 100 -> 101",
                    "dot.originy: 50 -> 51", "element.1.originx: 0 -> 5",
                    "element.1.originy: 0 -> 5", "element.1.endx: 10 -> 15",
                    "element.1.endy: 0 -> 5", "background: set to #eeeeee", "title: One -> Two",
                    "element.4: removed line at 10,0", "dot.strokeColor: unset, was #000000",
                ])
        #expect(slide.problems().isEmpty)
        #expect(try slide.reread() == slide)
    }

    @Test func `a chain stays whole when something in it is no element`() throws {
        func slide(_ middle: String) throws -> EditableDocument {
            try EditableDocument.of(
                """
                {"elements": [{"shapeType": "chain", "originx": 0, "originy": 0, "elements": [
                  {"shapeType": "line", "endx": 10, "endy": 0}, \(middle)
                  {"shapeType": "line", "endx": 10, "endy": 20}]}]}
                """, .slide)
        }
        let script = "move 1 5,5\nscale 1 2\nrotate 1 90\ncolor 1 red"
        var (broken, sound) = (try slide("7,"), try slide(""))
        _ = try (broken.run(script), sound.run(script))
        guard case .slide(let found) = broken, case .slide(let wanted) = sound else {
            Issue.record("no slide")
            return
        }
        #expect(found.elements[0].shape == wanted.elements[0].shape)
        #expect(found.elements[0].json["elements"]?.array?[1] == .integer(7))
    }

    @Test func `scaling in one direction leaves the other to the last digit`() throws {
        var slide = try EditableDocument.of(
            """
            {"elements": [{"shapeType": "line", "originx": 0.12345678901234, "originy": 0,
              "endx": 7.3, "endy": 2}]}
            """, .slide)
        #expect(try slide.run("scale 1 1").isEmpty)
        #expect(
            try slide.run("scale 1 1,2") == [
                "element.1.originy: 0 -> -1", "element.1.endy: 2 -> 3",
            ])
    }

    /// It took minutes while every key was looked for among all.
    @Test(.timeLimit(.minutes(1)))
    func `what holds very many unknown keys is edited and compared like any other`() throws {
        let keys = (0..<30_000).map { "\"unknown\($0)\": \($0)" }.joined(separator: ", ")
        let line =
            "\"shapeType\": \"line\", \"originx\": 0, \"originy\": 0, \"endx\": 1, \"endy\": 1"
        var slide = try EditableDocument.of(
            "{\"elements\": [{\(line), \(keys)}], \"title\": \"One\", \"x\": {\(keys)}, \(keys)}",
            .slide)
        let before = slide
        #expect(
            try slide.run("set title=Two line.1.endx=5") == [
                "title: One -> Two", "element.1.endx: 1 -> 5",
            ])
        #expect(before.differences(to: slide).count == 2)
    }

    @Test(arguments: [
        "line", "rectangle", "circle", "arc", "ellipse", "curve", "chain", "text",
    ])
    func `a new element of each type is drawn, moved, scaled, copied and removed`(
        type: String
    ) throws {
        var slide = try EditableDocument.template("empty", type: .slide)
        let empty = slide
        #expect(try slide.run("add \(type) it opacity=0.5").count == 1)
        #expect(slide.problems().isEmpty)
        let first = slide
        #expect(try !slide.run("move it 10,20\nscale it 2\ncolor it red").isEmpty)
        _ = try slide.run("scale it 0.5\nmove it -10,-20")
        #expect(try slide.value(at: "it.position") == first.value(at: "it.position"))
        #expect(try slide.run("duplicate it").count == 1)
        #expect(try slide.value(at: "it 2.opacity") == "0.5")
        #expect(try slide.run("order it front").count == 1)
        _ = try slide.run("remove all")
        #expect(slide == empty)
    }

    @Test(arguments: [
        ("rotate line.1 90", ["line.1.position=5,-5", "line.1.end=5,5"]),
        (
            "add rectangle r position=0,0 size=40,20\nrotate r 90",
            ["r.position=10,-10", "r.size=20,40"]
        ),
        ("add arc a\nrotate a 30", ["a.startAngle=30", "a.endAngle=210"]),
        ("rotate circle.1 30", ["circle.1.radius=10"]),
        ("scale line.1 2,1", ["line.1.position=-5,0", "line.1.end=15,0"]),
        ("scale greeting 0.5", ["greeting.position=20,5", "greeting.fontHeight=6"]),
        ("align 1 2 top", ["circle.1.position=100,10"]),
        ("align circle.1 right", ["circle.1.position=390,50"]),
        ("align circle.1 middle\nalign circle.1 center", ["circle.1.position=200,150"]),
        ("align 1 2 4 left", ["circle.1.position=10,50", "line.2.position=0,0"]),
        (
            "add circle c position=40,0 radius=5\nadd circle d position=50,0 radius=5\n"
                + "distribute circle.1 c d horizontally",
            ["d.position=70,0", "c.position=40,0", "circle.1.position=100,50"]
        ),
        ("chain 1 4", ["chain.1.position=0,0", "chain.1.element.2.endy=30"]),
        ("chain 1 4\nungroup chain.1", ["line.2.position=10,0", "line.1.end=10,0"]),
        ("move 4 0,5\nchain 1 4 join=yes\nungroup 1", ["line.2.position=10,0"]),
        (
            "add arc a position=0,0 radius=10 startAngle=0 endAngle=270\nalign a left",
            ["a.position=0,0"]
        ),
        (
            "add curve k position=0,0 end=20,0 controlPoint1=10,-20\nalign k top",
            ["k.position=0,10"]
        ),
        ("set chain.1.x=1", []), ("set circle.1.type=rectangle", ["rectangle.1.width=750"]),
    ])
    func `elements are turned, sized and arranged`(script: String, expected: [String]) throws {
        var slide = try EditableDocument.of(Sample.slide, .slide)
        if expected.isEmpty {
            #expect(slide.error(script)?.kind == .notFound)
            return
        }
        _ = try slide.run(script)
        for fact in expected {
            let words = fact.split(separator: "=").map { String($0) }
            #expect(try slide.value(at: words[0]) == words[1], "\(words[0])")
        }
    }

    @Test(arguments: [
        ("set circle.1.radius=-1", "circle.1.radius", "0 or more"),
        ("set circle.1.width=1", "circle.1.width", "a circle"),
        ("set circle.1.fillColor=#12345", "circle.1.fillColor", "not a colour"),
        ("unset circle.1.radius", "circle.1.radius", "needs it"),
        ("set canvas=0x5", "canvas", "1 to 100000"), ("set canvas=big", "canvas", "4000x3000"),
        ("add star", "add", "circle"), ("text circle.1 A", "element.2", "no text"),
        ("rotate greeting 10", "greeting", "cannot be turned"),
        ("rotate line.1 x 10", "rotate", "'x' where only DEGREES"),
        ("scale circle.1 1,2", "element.2", "stays round"),
        ("group G 1 2", "group", "chain"), ("chain 1 2", "element.2", "a line or curve"),
        ("chain 4 1", "element.1", "join=yes"), ("chain 1", "chain", "at least 2"),
        ("distribute 1 2 horizontally", "distribute", "at least 3"),
        ("align 1 2 up", "align", "usage"), ("ungroup 1", "element.1", "a chain"),
        ("move 1 1,2,3", "move", "X,Y"), ("rename 1 greeting", "greeting", "free is 'greeting 2'"),
        ("set text.1.alignment=middle", "text.1.alignment", "justified"),
        ("camera reset", "camera", "no camera"), ("set titel=A", "titel", "'title'"),
        ("scale 1 1e308\nscale 1 1e308", "element.1", "beyond all numbers"),
    ])
    func `errors say where and what would be right`(
        script: String, place: String, reason: String
    ) throws {
        let slide = try EditableDocument.of(Sample.slide, .slide)
        let error = try #require(slide.error(script))
        #expect(error.place == place, "\(error)")
        #expect(error.reason.contains(reason), "\(error)")
    }

    @Test func `an opacity of 0, which counts as 1, is not brought in`() throws {
        var slide = try EditableDocument.of(
            """
            {"elements": [
              {"shapeType": "circle", "originx": 1, "originy": 1, "radius": 1, "opacity": 0}]}
            """, .slide)
        #expect(try slide.run("set 1.opacity=0").isEmpty)
        #expect(try slide.run("set 1.opacity=0.5") == ["element.1.opacity: 0 -> 0.5"])
        let error = slide.error("set 1.opacity=0")
        #expect(error?.kind == .outOfRange)
        #expect(error?.reason.contains("0 counts as 1") == true)
    }

    @Test func `only what changed has another text`() throws {
        var slide = try EditableDocument.of(Sample.slide, .slide)
        _ = try slide.run("set circle.1.radius=12\nset circle.1.fillColor=red")
        let text = try slide.bytes(replacing: Array(Sample.slide.utf8))
        let parts = Sample.slide.split(separator: "\"radius\": 10")
        #expect(String(decoding: text, as: UTF8.self) == parts.joined(separator: "\"radius\": 12"))
    }

    @Test func `what is moved to where its like was is told as moved`() throws {
        var slide = try EditableDocument.template("empty", type: .slide)
        _ = try slide.run(
            (0..<3).map { "add circle position=\($0),0 radius=1" }.joined(separator: "\n"))
        #expect(
            try slide.run("move all 1,0") == [
                "element.1.originx: 0 -> 1", "element.2.originx: 1 -> 2",
                "element.3.originx: 2 -> 3",
            ])
    }

    @Test func `what is repaired and what is wrong is noted`() throws {
        let text = "{\"elements\":[{\"shapeType\":\"star\"},]}"
        let notes = try EditableDocument.read(Array(text.utf8), as: .slide).notes
        #expect(notes.count == 2)
        #expect(notes[0].contains("comma"))
        #expect(notes[1].contains("star"))
    }
}
