import DocumentFuzzing
import Documents
import Editing
import Glibc
import Testing

@Suite struct RandomEditTests {
    /// Where the random tests begin: $SHAPEEDIT_TEST_SEED, else somewhere else each time.
    private static let seed =
        getenv("SHAPEEDIT_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        ?? UInt64.random(in: 0..<1_000_000)

    @Test func `random edits hold what is promised of all`() throws {
        print("random edits: seed \(Self.seed)")
        var made = 0
        for round in 0..<400 {
            let seed = Self.seed &+ UInt64(round)
            var generator = DocumentGenerator(SeededGenerator(seed: seed))
            let types = DocumentType.allCases
            var document = generator.document(types[round % types.count])
            for _ in 0..<12 {
                let words = generator.edit(of: document)
                guard let edit = try? Edit(words: words) else { continue }
                made += try check(&document, edit, "seed \(seed): \(words)") ? 1 : 0
            }
        }
        #expect(made > 400, "seed \(Self.seed): hardly any edit was possible")
    }

    /// Applies an edit if that can be and says so.
    private func check(
        _ document: inout EditableDocument, _ edit: Edit, _ comment: Comment
    ) throws -> Bool {
        let before = document
        let changes: [Change]
        do throws(EditError) {
            changes = try document.apply([edit])
        } catch {
            #expect(document == before, comment)
            #expect(!error.reason.isEmpty && !error.place.isEmpty, comment)
            return false
        }
        #expect(changes.isEmpty == (document.content == before.content), comment)
        #expect(before.differences(to: document).isEmpty == changes.isEmpty, comment)
        #expect(document.differences(to: before).isEmpty == changes.isEmpty, comment)
        #expect(changes.allSatisfy { !$0.description.contains("\n") }, comment)
        let again = try document.reread()
        #expect(again.content == document.content, comment)
        #expect(document.differences(to: again).isEmpty, comment)
        // A second edit that cannot be takes the first back with it.
        var other = before
        let wrong = try Edit(words: ["set", "no.such.path=1"])
        #expect(throws: EditError.self, comment) { try other.apply([edit, wrong]) }
        #expect(other == before, comment)
        return true
    }

    @Test func `a script does and tells what its lines do one by one`() throws {
        var made = 0
        for round in 0..<200 {
            let seed = Self.seed &+ UInt64(round)
            var generator = DocumentGenerator(SeededGenerator(seed: seed))
            let type: DocumentType = round % 2 == 0 ? .shape : .slide
            let start = generator.document(type)
            var document = start
            var edits: [Edit] = []
            var changes: [Change] = []
            for _ in 0..<40 {
                guard let edit = try? Edit(words: generator.edit(of: document)),
                    let changed = try? document.apply([edit])
                else { continue }
                edits.append(edit)
                changes += changed
            }
            var scripted = start
            let told = try scripted.apply(edits)
            let comment: Comment = "seed \(seed): \(edits.map(\.words))"
            #expect(told == changes, comment)
            #expect(scripted == document, comment)
            made += edits.count
        }
        #expect(made > 400, "seed \(Self.seed): hardly any edit was possible")
    }

    @Test func `setting what is there already changes nothing`() throws {
        for round in 0..<40 {
            let seed = Self.seed &+ UInt64(round)
            var generator = DocumentGenerator(SeededGenerator(seed: seed))
            for type in DocumentType.allCases {
                var document = generator.document(type)
                for (path, value) in document.paths where value != "none" {
                    let edit = try Edit(words: ["set", "\(path)=\(value)"])
                    // Some of what files hold cannot be set, such as wrong colours; `none` is none.
                    let changes = (try? document.apply([edit])) ?? []
                    let isMade = changes.allSatisfy { $0.before == nil && $0.after == value }
                    #expect(isMade, "seed \(seed): \(path)=\(value): \(changes)")
                }
            }
        }
    }
}

extension EditableDocument {
    /// What the document says, without how its text says it: an independent measure of equality.
    fileprivate var content: EditableDocument {
        switch self {
        case .scene(var scene):
            scene.source = JSONObject()
            scene.camera.source = JSONObject()
            scene.nodes = scene.nodes.map(\.content)
            return .scene(scene)
        case .shapeFile(let file):
            return .shapeFile(ShapeFile(kind: file.kind, camera: file.camera))
        case .slide, .list: return self
        }
    }
}

extension SceneNode {
    fileprivate var content: SceneNode {
        switch self {
        case .solid(var solid):
            solid.source = JSONObject()
            return .solid(solid)
        case .group(var group):
            group.source = JSONObject()
            group.children = group.children.map(\.content)
            return .group(group)
        }
    }
}
