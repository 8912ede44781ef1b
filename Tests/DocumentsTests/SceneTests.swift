import DocumentFuzzing
import Documents
import Testing

/// Scenes in and out.
@Suite struct SceneTests {
    private func read(_ text: String) throws -> Scene { try Scene.read(Array(text.utf8)) }

    /// A document with one node of such members.
    private func node(_ members: String) throws -> Scene {
        try read("{\"version\":1,\"nodes\":[{\(members)}]}")
    }

    @Test func `a document is read with its defaults`() throws {
        let scene = try Scene.read(try Samples.read("three.shape"))
        #expect(scene.title == "Three")
        #expect(scene.background == Color("#eeeeff"))
        #expect(scene.camera.position == Vector3(0, 1, 6))
        #expect(scene.camera.orientation == .target(.zero))
        #expect(scene.camera.fieldOfView == 60)
        guard case .solid(let ball) = scene.nodes[0], case .group(let pair) = scene.nodes[1],
            case .solid(let cube) = pair.children[0], case .solid(let torus) = pair.children[1]
        else {
            Issue.record("other nodes: \(scene.nodes)")
            return
        }
        #expect(ball.shape == .sphere(radius: 1.25))
        #expect(ball.effectiveColor == SolidKind.sphere.standardColor)
        #expect(pair.transform.rotation == Rotation(axis: Vector3(0, 1, 0), degrees: 45))
        #expect(cube.shape == .cube(width: 2, height: 2, depth: 2, roundedEdge: 0))
        #expect(torus.transform.scale == Vector3(1, 2, 1))
        #expect(!torus.isVisible)
        #expect(torus.opacity == 0.5)
    }

    @Test func `a byte order mark is left out, said, and costs no layout`() throws {
        let bytes = try Samples.read("three.shape")
        let (scene, repairs) = try Scene.repaired([0xef, 0xbb, 0xbf] + bytes)
        #expect(scene == (try Scene.read(bytes)))
        #expect(repairs.map(\.description) == ["line 1, column 1: a byte order mark was left out"])
        #expect(try scene.text(replacing: [0xef, 0xbb, 0xbf] + bytes) == bytes)
    }

    @Test func `one edit changes only its own text`() throws {
        let bytes = try Samples.read("three.shape")
        var scene = try Scene.read(bytes)
        #expect(try scene.text(replacing: bytes) == bytes)
        guard case .solid(var ball) = scene.nodes[0] else {
            Issue.record("no solid first")
            return
        }
        ball.color = Color("#fc0")
        scene.nodes[0] = .solid(ball)
        let before = String(decoding: bytes, as: UTF8.self)
        let after = String(decoding: try scene.text(replacing: bytes), as: UTF8.self)
        let parts = before.split(separator: "\"x-keep\": true", maxSplits: 1)
        #expect(after == "\(parts[0])\"x-keep\": true, \"color\": \"#ffcc00\"\(parts[1])")
    }

    @Test func `another kind of solid drops the former dimensions`() throws {
        var scene = try node("\"type\":\"sphere\",\"radius\":3,\"x-keep\":1,\"height\":\"tall\"")
        guard case .solid(var solid) = scene.nodes[0] else {
            Issue.record("no solid")
            return
        }
        solid.shape = SolidShape(.torus)
        scene.nodes[0] = .solid(solid)
        let text = String(decoding: try scene.text(), as: UTF8.self)
        #expect(!text.contains("radius"))
        #expect(text.contains("x-keep"))
        #expect(text.contains("torus"))
    }

    @Test(arguments: [
        ("[]", "document"), ("{}", "version"), ("{\"version\":1}", "nodes"),
        ("{\"version\":2,\"nodes\":[]}", "version"), ("{\"version\":1,\"nodes\":{}}", "nodes"),
        ("{\"version\":1,\"nodes\":[1]}", "nodes[0]"),
        ("{\"version\":1,\"nodes\":[{\"type\":\"ball\"}]}", "nodes[0].type"),
        ("{\"version\":1,\"nodes\":[{\"type\":\"group\"}]}", "nodes[0].children"),
        (
            "{\"version\":1,\"nodes\":[{\"type\":\"group\",\"children\":[{\"type\":\"cone\","
                + "\"topRadius\":-1}]}]}", "nodes[0].children[0].topRadius"
        ),
        ("{\"version\":1,\"nodes\":[],\"camera\":{\"fieldOfView\":180}}", "camera.fieldOfView"),
        (
            "{\"version\":1,\"nodes\":[],\"camera\":{\"target\":[0,0,0],\"rotation\":[0,0,0,0]}}",
            "camera.target"
        ),
        ("{\"version\":1,\"nodes\":[],\"background\":\"red\"}", "background"),
    ])
    func `a mistake is named by its path`(text: String, path: String) {
        let error = #expect(throws: DocumentError.self) { try read(text) }
        #expect(error.map { "\($0.place)" } == path)
    }

    @Test(arguments: [
        "\"radius\":0", "\"radius\":1e42", "\"radius\":\"1\"", "\"opacity\":1.5", "\"scale\":0",
        "\"scale\":[1,1]", "\"position\":[1,2,1e99]", "\"rotation\":[0,0,1]", "\"visible\":1",
        "\"name\":5", "\"color\":\"#12\"",
    ])
    func `a value out of range is refused`(member: String) {
        #expect(throws: DocumentError.self) { try node("\"type\":\"sphere\",\(member)") }
        #expect(throws: Never.self) { try node("\"type\":\"sphere\"") }
    }

    @Test(arguments: [("sphere", "radius", "more than 0"), ("cone", "topRadius", "0 or more")])
    func `a dimension out of range is refused with both bounds`(
        kind: String, key: String, least: String
    ) throws {
        for value in ["-1", "1e300"] {
            let error = #expect(throws: DocumentError.self) {
                try node("\"type\":\"\(kind)\",\"\(key)\":\(value)")
            }
            #expect(error?.reason.contains("a number of \(least), at most 1e+41") == true)
        }
    }

    @Test func `nodes and groups are bounded`() throws {
        func groups(_ depth: Int) -> String {
            String(repeating: "{\"type\":\"group\",\"children\":[", count: depth)
                + String(repeating: "]}", count: depth)
        }
        #expect(throws: Never.self) { try read("{\"version\":1,\"nodes\":[\(groups(16))]}") }
        let deep = #expect(throws: DocumentError.self) {
            try read("{\"version\":1,\"nodes\":[\(groups(17))]}")
        }
        #expect(deep?.kind == .tooLarge)
        let solids = Array(repeating: "{\"type\":\"cube\"}", count: Limits.sceneNodes + 1)
        let many = #expect(throws: DocumentError.self) {
            try read("{\"version\":1,\"nodes\":[\(solids.joined(separator: ","))]}")
        }
        #expect(many?.kind == .tooLarge)
    }

    @Test func `what could not be read again is not written`() {
        var scene = Scene(nodes: [.solid(Solid(shape: SolidShape(.cube), opacity: 2))])
        #expect(throws: DocumentError.self) { try scene.text() }
        scene.nodes = [.solid(Solid(shape: .sphere(radius: .nan)))]
        #expect(throws: DocumentError.self) { try scene.text() }
    }

    @Test func `any scene comes back`() throws {
        var generator = DocumentGenerator(SeededGenerator(seed: 31))
        for _ in 0..<500 {
            let scene = generator.scene()
            let again = try Scene.read(scene.text())
            #expect(again.title == scene.title)
            #expect(again.background == scene.background)
            #expect(again.camera.position == scene.camera.position)
            #expect(again.camera.orientation == scene.camera.orientation)
            #expect(again.json == scene.json)
            // Over any other document too.
            let other = try generator.scene().text()
            #expect(try Scene.read(scene.text(replacing: other)).json == scene.json)
        }
    }
}
