import Documents
import Editing
import Editor
import Probing
import Terminal
import TestSupport
import Testing

/// Any keys in any order.
@Suite struct EditorRandomKeysTests {
    @Test func `any keys are survived, and no state is lost on the way to the file`() {
        let seed = Seed.next("editor keys")
        var random = SplitMix(seed: seed)
        let keys: [Key] =
            [
                .up, .down, .left, .right, .tab, .enter, .enter, .escape, .delete, .backspace,
                .pageUp,
            ]
            + Array("123456nadxcgGheuUmrsoz JK:?+-0w").map { .character($0) }
        for start in [
            EditableDocument.scene(Desk.scene), .shapeFile(ShapeFile(kind: .cone)),
            .slide(Slide(title: "S")), .list(TaskList(items: [TaskItem("a"), TaskItem("b")])),
        ] {
            var desk = Desk(start)
            var file = start
            for _ in 0..<400 {
                let key = keys[Int(random.next() % UInt64(keys.count))]
                desk.press(key, random.next() % 8 == 0 ? .shift : [])
                desk.wait(Int(random.next() % 1_500))
                desk.play(&file)
                _ = desk.state.screen
            }
            desk.press(.escape)
            desk.press(.escape)
            desk.type("q")
            while desk.state.isUnsaved { desk.play(&file) }
            #expect(desk.state.document == file, "seed \(seed)")
        }
    }
}
