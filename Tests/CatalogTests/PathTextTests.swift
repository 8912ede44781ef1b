import PathText
import Probing
import Testing

/// Names as text, whatever bytes they have.
@Suite struct PathTextTests {
    @Test(arguments: ["", "a", "Würfel.shape", "日本語", "🙂", "e\u{301}", "new\nline", "\u{FFFD}"])
    func `a name that is UTF-8 is its own text`(name: String) {
        let text = String(path: name.utf8)
        #expect(text.utf8.elementsEqual(name.utf8))
        #expect(!text.hasPathMarks && text.repairedPath == name)
        #expect(text.pathBytes == Array(name.utf8))
        #expect(PathText.base64(text) == nil)
    }

    private static let others: [[UInt8]] = [
        [0xff], [0x63, 0xe9, 0x2e], [0xc3, 0x28], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0xaf],
        [0xf4, 0x90, 0x80, 0x80], [0xef, 0xbf, 0xbd, 0x80],
        // What marks are made of: alone, together, and cut off.
        [0xef, 0xb7, 0x98], [0xef, 0xb7, 0x9e, 0xef, 0xb7, 0xa9], [0xef, 0xb7],
    ]

    @Test(arguments: others)
    func `what is not UTF-8 in a name is not lost`(name: [UInt8]) {
        let text = String(path: name)
        #expect(text.hasPathMarks && text.pathBytes == name)
        #expect(text.cPath == name.map { CChar(bitPattern: $0) } + [0])
        #expect(text.repairedPath.contains("\u{FFFD}") && !text.repairedPath.hasPathMarks)
        #expect(text.writingPathMarks { _ in "" }.utf8.allSatisfy { name.contains($0) })
    }

    @Test func `every name has a text of its own`() {
        var generator = SplitMix(seed: 7)
        // Mostly of what marks and characters begin and go on with.
        let bytes: [UInt8] = [0x61, 0x80, 0x98, 0xa0, 0xaf, 0xb7, 0xc3, 0xe9, 0xef, 0xf0, 0xff]
        var names: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<2_000 {
            let count = Int.random(in: 1...9, using: &generator)
            let name = (0..<count).map { _ in bytes.randomElement(using: &generator) ?? 0 }
            let text = String(path: name)
            #expect(text.pathBytes == name)
            let former = names.updateValue(name, forKey: Array(text.utf8))
            #expect(former == nil || former == name)
        }
    }

    @Test func `paths in JSON have their bytes beside them`() {
        let members = PathText.members("path", String(path: [0x63, 0xe9]), { "<\($0)>" })
        #expect(members.map(\.0) == ["path", "pathBytes"])
        #expect(members.map(\.1) == ["<c\u{FFFD}>", "<Y+k=>"])
        #expect(PathText.base64(String(path: [0xff])) == "/w==")
        #expect(PathText.base64(String(path: [0xff, 0xfe, 0xfd])) == "//79")
        #expect(PathText.members("path", "é", { $0 }).map(\.0) == ["path"])
    }
}
