import Documents
import Glibc
import TestSupport
import Testing

/// A terminal that is behind and gets another size: what it was to be shown before is cut off.
@Suite(.oneAtATime) struct CutPictureTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere)))
    ])

    /// What begins at a place in the output, up to the escape character that ends it or begins something
    /// else, and that sequence's second byte; nil if there is none.
    private func string(in output: ArraySlice<UInt8>) -> (body: ArraySlice<UInt8>, end: UInt8)? {
        guard let escape = output.dropFirst().firstIndex(of: 0x1B), escape + 1 < output.endIndex
        else { return nil }
        return (output[..<escape], output[escape + 1])
    }

    @Test(arguments: [("kitty", "\u{1B}_Ga=T"), ("sixel", "\u{1B}P0;"), ("iterm", "\u{1B}]1337;")])
    func `a picture that is cut off ends before the screen of another size begins`(
        graphics: String, beginning: String
    ) throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start(
            columns: 200, rows: 60, options: ["--graphics", graphics])
        #expect(terminal.says(beginning))
        // The rest of the picture is more than a terminal holds that does not read. Only when the editor
        // waits for that does another size end the picture.
        usleep(500_000)
        terminal.resize(columns: 100, rows: 30)
        // For as long as nobody reads it cannot go on: only how soon a busy machine tells it counts.
        usleep(2_000_000)
        #expect(terminal.shows("sphere"))
        terminal.type("q")
        #expect(terminal.end() == 0)

        var cuts = 0
        let output = terminal.output
        for (index, second) in zip(output.indices, output.dropFirst())
        where output[index] == 0x1B && "_P]".utf8.contains(second) {
            guard let (body, end) = string(in: output[index...]), !body.contains(0x07) else {
                continue
            }
            #expect(end == UInt8(ascii: "\\"), "the next sequence is taken for more of it")
            // The screen follows where nothing else ends it.
            let rest = output[body.endIndex...].dropFirst(2)
            let next = Array(("\u{1B}[?2026h").utf8)
            let last = Array("\u{1B}_Gq=2,m=0;\u{1B}\\".utf8)
            if rest.starts(with: graphics == "kitty" ? last + next : next) { cuts += 1 }
        }
        #expect(cuts == 1, "nothing was cut off")
    }
}
