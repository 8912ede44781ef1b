import Documents
import Editing
import Testing

/// Texts that are equal for people and composed of other characters.
@Suite struct CompositionTests {
    private static let composed = "Caf\u{e9}"
    private static let decomposed = "Cafe\u{301}"

    @Test(arguments: [
        (DocumentType.shape, "title", "title"), (.shape, "rename 1", "solid.1.name"),
        (.shape, "rename group.1", "group.1.name"), (.slide, "title", "title"),
        (.slide, "rename 3", "element.3.comment"), (.slide, "text 3", "element.3.text"),
        (.list, "list edit 1", "item.1.text"),
    ])
    func `an edit from one composition to another one is made and written`(
        type: DocumentType, verb: String, path: String
    ) throws {
        var document: EditableDocument =
            switch type {
            case .shape: try .of(Sample.scene, .shape)
            case .slide: try .of(Sample.slide, .slide)
            default: Sample.list()
            }
        _ = try document.run("\(verb) \(Self.composed)")
        for (old, new) in [
            (Self.composed, Self.decomposed), (Self.decomposed, Self.composed),
        ] {
            let before = document
            let bytes = try document.bytes(replacing: nil)
            let changes = try document.run("\(verb) \(new)")
            #expect(changes.count == 1, "\(changes)")
            #expect(changes.first?.hasSuffix("(the same letters, otherwise composed)") == true)
            let written = try EditableDocument.read(
                try document.bytes(replacing: bytes), as: type
            ).document
            #expect(Array(try written.value(at: path).unicodeScalars) == Array(new.unicodeScalars))
            #expect(before != document && before.differences(to: document).count == 1)
            // What it is already changes nothing, and either finds it.
            #expect(try document.run("\(verb) \(new)") == [])
            if verb.hasPrefix("rename") {
                let key = path.split(separator: ".")[2]
                #expect(try document.value(at: "\"\(old)\".\(key)") == new)
            }
        }
    }
}
