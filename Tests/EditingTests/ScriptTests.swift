import Documents
import Editing
import Testing

@Suite struct ScriptTests {
    @Test func `words are taken apart as by a shell`() throws {
        let edits = try Edit.script(
            """
            # a comment

            title 'It''s "here"'   # another
            \ttitle "a \\"b\\" \\\\ c"\u{20}
            title "5 \\$ \\`x\\` \\n"
            title a\\ b
            title ''
            color Ball #fc0 # gold
            """)
        #expect(
            edits.map(\.words) == [
                ["title", "Its \"here\""], ["title", "a \"b\" \\ c"],
                ["title", "5 $ `x` \\n"], ["title", "a b"], ["title", ""],
                ["color", "Ball", "#fc0"],
            ])
        #expect(edits.map(\.line) == [3, 4, 5, 6, 7, 8])
        #expect(try Edit.script("title A\r\n\r\ntitle B\r\n").map(\.words.last) == ["A", "B"])
    }

    @Test func `a first -- without quotes says where options end, as on the command line`() throws {
        let script = "title -- -x\n-- title --json\ntitle --\ntitle '--'\ntext 1 -- -- # c"
        #expect(
            try Edit.script(script).map(\.words) == [
                ["title", "-x"], ["title", "--json"], ["title"], ["title", "--"],
                ["text", "1", "--"],
            ])
        for (words, text) in [
            (["text", "1", "--"], "text 1 -- --"), (["title", "--json"], "title -- --json"),
            (["list", "add", "-1", "-n"], "list add -1 -- -n"),
        ] {
            #expect(Edit.text(of: words) == text)
            #expect(try Edit.script(text).map(\.words) == [words])
        }
    }

    @Test(arguments: [
        ("title 'a", 1, "quotation mark"), ("\n\ntitle a\\", 3, "backslash"),
        ("title a\ntitel b", 2, "'title'"),
    ])
    func `what is no script is refused with its line`(text: String, line: Int, reason: String) {
        let error = #expect(throws: EditError.self) { try Edit.script(text) }
        #expect(error?.line == line)
        #expect(error?.reason.contains(reason) == true)
    }

    @Test func `an error in a script carries its line and nothing is applied`() throws {
        let scene = try EditableDocument.of(Sample.scene, .shape)
        let error = try #require(scene.error("color Ball red\n\ncolor Bal blue\ntitle A"))
        #expect(error.line == 3)
        #expect(error.description == "line 3: Bal: unknown solid 'Bal'; did you mean 'Ball'?")
    }

    @Test func `lines find what lines before them made, renamed and moved`() throws {
        var scene = EditableDocument.scene(Scene())
        let told = try scene.run(
            """
            add cube
            add cube
            add cube color=red
            set "Cube 2.position.x=1" "Cube 2.color=#0000ff"
            rename "Cube 2" Box
            add cube
            move Box +1,0,0
            set cube.4.opacity=0.5 title=T
            remove 1
            set 1.color=gold
            add group Pair
            add sphere
            move sphere.1 0,0,1
            rename Sphere Cube
            set Cube.name=Ball Ball.color=#ffffff
            add sphere
            remove "Cube 3"
            set 2.opacity=0
            """)
        #expect(
            told == [
                "Cube: added cube at 0,0,0, #3cabdb", "Cube 2: added cube at 0,0,0, #3cabdb",
                "Cube 3: added cube at 0,0,0, #ff0000", "Cube 2.position: 0,0,0 -> 1,0,0",
                "Cube 2.color: set to #0000ff", "Cube 2.name: Cube 2 -> Box",
                "Cube 2: added cube at 0,0,0, #3cabdb", "Box.position: 1,0,0 -> 2,0,0",
                "title: set to T", "Cube 2.opacity: 1 -> 0.5", "Cube: removed cube at 0,0,0",
                "Box.color: #0000ff -> #ffd700", "Pair: added group of 0",
                "Sphere: added sphere at 0,0,0, #fd3d39", "Sphere.position: 0,0,0 -> 0,0,1",
                "Sphere.name: Sphere -> Cube", "Cube.name: Cube -> Ball",
                "Ball.color: set to #ffffff", "Sphere: added sphere at 0,0,0, #fd3d39",
                "Cube 3: removed cube at 0,0,0", "Cube 2.opacity: 0.5 -> 0",
            ])
        #expect(scene.error("add sphere Moon\nadd cube Moon")?.line == 2)
        #expect(scene.error("move Box 1,0,0\nmove Bax 1,0,0")?.line == 2)
        #expect(scene.error("add cube Old\nset Old.name=New Older.color=red")?.line == 2)
    }

    @Test(arguments: ["rename Ball", "order Ball", "rename front"])
    func `a single word where two are expected is said to be one of them`(line: String) throws {
        let scene = try EditableDocument.of(Sample.scene, .shape)
        let error = try #require(scene.error(line))
        let word = line.split(separator: " ")[1]
        #expect(error.reason.hasPrefix("'\(word)' where a TARGET and then "), "\(error)")
        #expect(error.reason.contains("; usage: "), "\(error)")
        let bare = try #require(scene.error("rename"))
        #expect(bare.reason.hasPrefix("TARGET is missing; "), "\(bare)")
    }

    @Test func `no words are no edit`() {
        #expect(throws: EditError.self) { try Edit(words: []) }
    }

    @Test func `every verb says what it does and for what`() {
        #expect(Set(Verb.all.map(\.name)).count == Verb.all.count)
        for verb in Verb.all {
            #expect(!verb.summary.isEmpty && !verb.summary.hasSuffix("."))
            #expect(!verb.types.isEmpty)
            #expect(verb.usage.allSatisfy { $0 == verb.name || $0.hasPrefix("\(verb.name) ") })
        }
    }

    @Test(arguments: DocumentType.allCases)
    func `verbs are refused or known, never neither`(type: DocumentType) throws {
        let document = try EditableDocument.template(nil, type: type)
        for verb in Verb.all {
            // Alone none of them says enough.
            let error = try #require(document.error(verb.name))
            #expect(error.kind == .usage, "\(error)")
            #expect(error.place == verb.name)
            #expect(verb.types.contains(type) == error.reason.contains("usage:"), "\(error)")
        }
    }

    @Test(arguments: DocumentType.allCases)
    func `templates are sound documents`(type: DocumentType) throws {
        let names = EditableDocument.templates(for: type)
        let first = try EditableDocument.template(nil, type: type)
        #expect(try EditableDocument.template(names[0], type: type) == first)
        for name in names {
            let document = try EditableDocument.template(name, type: type)
            #expect(document.type == type)
            #expect(document.problems().isEmpty)
            #expect(!document.summary.isEmpty)
            #expect(try document.reread().differences(to: document).isEmpty)
        }
        let error = #expect(throws: EditError.self) {
            try EditableDocument.template("emtpy sphere", type: type)
        }
        #expect(error?.kind == .notFound)
    }

    @Test func `a verb that is missing before an action of lists is named`() {
        for action in ["check", "edit", "clear-done"] {
            let error = #expect(throws: EditError.self) { try Edit.script("\(action) 2") }
            #expect(error?.reason.contains("'list \(action)'") == true)
        }
        let error = #expect(throws: EditError.self) { try Edit.script("frobnicate 2") }
        #expect(error?.reason.hasSuffix(", list") == true)
    }
}
