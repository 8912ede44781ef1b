import Documents
import Editing
import Testing

/// Very many paths of one document at once.
@Suite struct ManyPathsTests {
    private static let count = 2_000

    /// A document of each kind whose parts are many, and the path of a part's value.
    private static func sample(_ kind: String) throws -> (EditableDocument, (Int) -> String) {
        let numbers = 1...count
        switch kind {
        case "scene":
            let nodes = numbers.map {
                SceneNode.solid(Solid(name: "Ball \($0)", shape: SolidShape(.sphere)))
            }
            return (.scene(Scene(nodes: nodes)), { "Ball \($0).radius" })
        case "list":
            let items = numbers.map { TaskItem("buy \($0)") }
            return (.list(TaskList(items: items)), { "item.\($0).text" })
        default:
            let line = #"{"shapeType": "line", "endx": 5, "endy": 6, "comment": "l"}"#
            let lines = numbers.map { _ in line }.joined(separator: ",")
            let isChain = kind == "chain"
            let chain = #"{"shapeType": "chain", "originx": 0, "originy": 0, "elements": ["#
            let elements = isChain ? chain + lines + "]}" : lines
            let slide = try EditableDocument.of(#"{"elements": ["# + elements + "]}", .slide)
            return (slide, { (isChain ? "chain.1.line.\($0)" : "line.\($0)") + ".endx" })
        }
    }

    @Test(arguments: ["scene", "list", "slide", "chain"])
    func `values of many parts are found in the time of one pass`(kind: String) throws {
        let (document, path) = try Self.sample(kind)
        let clock = ContinuousClock()
        var found: [String] = []
        let one = try clock.measure { found = try document.values(at: [path(Self.count)]) }
        #expect(found.count == 1)
        let paths = (1...Self.count).map(path)
        let all = try clock.measure { found = try document.values(at: paths) }
        #expect(found.count == Self.count)
        #expect(found.last == (try document.value(at: path(Self.count))))
        // Each by itself takes 2,000 times as long.
        #expect(all < one * (Self.count / 4), "one \(one), all \(all)")
    }

    @Test func `many values of what is in a chain are set in the time of one pass`() throws {
        var (document, path) = try Self.sample("chain")
        let clock = ContinuousClock()
        let one = try clock.measure { _ = try document.run("set \(path(1))=7") }
        let line = (1...Self.count).map { path($0) + "=8" }.joined(separator: " ")
        var told: [String] = []
        let all = try clock.measure { told = try document.run("set " + line) }
        #expect(told.count == Self.count)
        #expect(try document.value(at: path(Self.count)) == "8")
        #expect(all < one * (Self.count / 4), "one \(one), all \(all)")
    }

    @Test func `of many paths the first that leads nowhere is told`() throws {
        let (document, path) = try Self.sample("scene")
        let error = #expect(throws: EditError.self) {
            try document.values(at: [path(1), "Ball 2.radios", "nothing.here"])
        }
        #expect(error?.place == "Ball 2.radios", "\(String(describing: error))")
    }

    @Test func `script lines about a few parts take no longer the more there are`() throws {
        func time(_ count: Int) throws -> Duration {
            var scene = EditableDocument.scene(
                Scene(
                    nodes: (1...count).map {
                        .solid(Solid(name: "Ball \($0)", shape: SolidShape(.sphere)))
                    }))
            let script = (1...200).map { "set \"Ball \($0).opacity=0.5\" 9.opacity=0.\($0)" }
            var told: [String] = []
            let time = try ContinuousClock().measure {
                told = try scene.run(script.joined(separator: "\n"))
            }
            #expect(told.prefix(2) == ["Ball 1.opacity: 1 -> 0.5", "Ball 9.opacity: 1 -> 0.1"])
            #expect(told.count == 399)
            return time
        }
        let (few, many) = (try time(300), try time(3_000))
        #expect(many < few * 6, "few \(few), many \(many)")
    }
}
