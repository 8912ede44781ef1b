import Documents
import Editing
import Testing

/// Several values that one edit sets.
@Suite struct AssignmentTests {
    @Test(arguments: [
        ("set item.1.done=yes item.2.done=yes", "eggs|bread,milk,tea"),
        ("set item.1.done=yes item.1.text=rye", "bread,eggs|rye,tea"),
        ("set item.4.done=no item.1.done=yes", "bread,eggs,tea|milk"),
        ("set item.1.done=yes item.1.done=no", "milk,bread,eggs|tea"),
        ("set milk.text=oats oats.done=yes", "bread,eggs|oats,tea"),
        ("set item.2.done=yes\nset item.2.done=yes", "milk|eggs,bread,tea"),
    ])
    func `items that an edit completes do not change which are meant`(
        script: String, expected: String
    ) throws {
        var list = Sample.list()
        _ = try list.run(script)
        guard case .list(let list) = list else {
            Issue.record("no list")
            return
        }
        let open = list.items.filter { !$0.isComplete }.map(\.text)
        let done = list.items.filter(\.isComplete).map(\.text)
        #expect(list.items.map(\.text) == open + done)
        #expect("\(open.joined(separator: ","))|\(done.joined(separator: ","))" == expected)
    }

    @Test(arguments: [
        ("set torus.1.shape=cube torus.1.color=red", ["A.color", "A.shape"]),
        ("set torus.2.shape=cube torus.1.shape=cube", ["A.shape", "B.shape"]),
        ("set A.name=C C.color=red", ["A.name", "C.color"]),
        ("set A.name=C A.color=red", ["A.name", "C.color"]),
        ("unset A.name torus.2.color solid.1.color", ["A.name", "B.color", "solid.1.color"]),
    ])
    func `solids that an edit changes do not change which are meant`(
        script: String, expected: [String]
    ) throws {
        let text = """
            {"version": 1, "nodes": [
              {"type": "torus", "name": "A", "color": "#123456"},
              {"type": "torus", "name": "B", "color": "#123456"}]}
            """
        var scene = try EditableDocument.of(text, .shape)
        let paths = try scene.run(script).map { String($0.prefix { $0 != ":" }) }
        let dimensions = ["Radius", "width", "height", "depth", "Edge"]
        #expect(
            paths.filter { path in !dimensions.contains { path.hasSuffix($0) } }.sorted()
                == expected)
    }

    @Test func `elements that an edit changes do not change which are meant`() throws {
        var slide = try EditableDocument.of(Sample.slide, .slide)
        _ = try slide.run(
            "add rectangle r1\nadd rectangle r2\nset rectangle.1.type=ellipse rectangle.1.fill=red")
        #expect(try slide.value(at: "r1.fill") == "#ff0000")
        // What was in a chain is not, when that is one no more.
        _ = try slide.run("chain line.1 line.2")
        let error = slide.error("set chain.1.type=line chain.1.line.2.thickness=3")
        #expect(error?.kind == .notFound)
    }

    @Test(arguments: [
        "set 1.type=chain 1.line.1.endX=5", "set chain.1.line.1.comment=New chain.1.New.endX=5",
        "set chain.1.line.1.type=curve chain.1.curve.1.endX=5",
    ])
    func `what an edit makes of an element is found by what follows`(script: String) throws {
        var slide = try EditableDocument.of(Sample.slide, .slide)
        _ = try slide.run("chain line.1 line.2\nadd line l")
        let begun = script.hasPrefix("set 1") ? "order l back\n" : ""
        _ = try slide.run(begun + script)
        let changed = script.contains("chain.1.") ? "chain.1.1.endX" : "1.1.endX"
        #expect(try slide.value(at: changed) == "5")
    }

    @Test func `each value that a document tells can be set again and changes none`() throws {
        for document in [
            try EditableDocument.of(Sample.scene, .shape),
            try EditableDocument.of(Sample.slide, .slide), Sample.list(),
        ] {
            let told = document.paths.map { "\($0.path)=\($0.value)" }
            for word in told {
                var copy = document
                _ = try copy.apply([try Edit(words: ["set", word])])
                #expect(copy.paths.map { "\($0.path)=\($0.value)" } == told, "\(word)")
            }
        }
        var (scene, list) = (try EditableDocument.of(Sample.scene, .shape), Sample.list())
        #expect(throws: EditError.self) { try scene.run("set version=2") }
        #expect(throws: EditError.self) {
            try list.run("set item.1.uuid=00000000-0000-0000-0000-000000000000")
        }
    }
}
