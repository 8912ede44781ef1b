import Browser
import Documents
import Drawing
import Editor
import Glibc
import Probing
import Terminal
import TestSupport
import Testing

/// Which pictures the browser shows when documents change.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct BrowserPictureTests {
    /// A slide of one colour, and how a terminal is told of it.
    private struct Colored {
        var bytes: [UInt8]
        var sequence: String

        init(red: Int, green: Int, blue: Int) {
            let digits = [red, green, blue].map { channel in
                let text = String(channel, radix: 16)
                return text.count < 2 ? "0" + text : text
            }
            let color = "#" + digits.joined()
            bytes = Array("{\"elements\": [], \"bgcolor\": \"\(color)\"}".utf8)
            sequence = "\(red);\(green);\(blue)m"
        }
    }
    private let former = Colored(red: 18, green: 171, blue: 52)
    private let latter = Colored(red: 52, green: 18, blue: 171)

    private func browse(_ place: Workplace, _ folder: String) throws -> PseudoTerminal {
        var environment = place.environment
        (environment["TERM"], environment["COLORTERM"]) = ("xterm-256color", "truecolor")
        return try PseudoTerminal(
            [place.program, "browse", folder, "--graphics", "blocks"], environment: environment)
    }

    private func isShown(_ slide: Colored, _ terminal: PseudoTerminal) -> Bool {
        terminal.wait(seconds: 60) {
            String(decoding: terminal.output, as: UTF8.self).contains(slide.sequence)
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = try #require(fopen(path, "w"))
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
        fclose(file)
    }

    @Test func `a promise that comes is shown its picture`() throws {
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("a.shape", Scene(), in: volume.directory)
            let source = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(source) }
            try write(former.bytes, to: source + "/p.slide")
            let folder = place.folder + "/imported"
            let imported = try run([place.program, "import", "--promise", source, folder])
            #expect(imported.status == 0, "\(imported)")
            let terminal = try browse(place, folder)
            #expect(terminal.shows("not here", seconds: 60))
            // What stands for the picture.
            #expect(terminal.wait(seconds: 60) { terminal.screen.text.contains("▀▀▀") })
            #expect(try run([place.program, "materialize", folder + "/p.slide"]).status == 0)
            #expect(isShown(former, terminal))
            terminal.type("\u{11}")
            #expect(terminal.end(seconds: 60) == 0)
        }
    }

    @Test(arguments: [true, false])
    func `what is copied over a document with its time is shown its picture`(
        _ isMounted: Bool
    ) throws {
        func check(_ place: Workplace) throws {
            let folder = place.folder + "/copies"
            mkdir(folder, 0o755)
            let slide = folder + "/c.slide"
            try write(former.bytes, to: slide)
            let other = place.folder + "/other"
            try write(latter.bytes, to: other)
            #expect(try run(["touch", "-r", slide, other]).status == 0)
            let terminal = try browse(place, folder)
            #expect(isShown(former, terminal))
            // As many bytes, and the same time.
            #expect(try run(["cp", "-p", other, slide]).status == 0)
            #expect(isShown(latter, terminal))
            terminal.type("\u{11}")
            #expect(terminal.end(seconds: 60) == 0)
        }
        if isMounted {
            try withVolume(.noPassthrough) { volume in
                try check(Workplace("a.shape", Scene(), in: volume.directory))
            }
        } else {
            try check(Workplace("a.shape", Scene()))
        }
    }

    @Test func `what stands for a picture is looked for again when the mount says otherwise`()
        throws
    {
        let shape = TerminalShape(columns: 80, rows: 40, graphics: .blocks, cell: .usual)
        var state = BrowserState(name: "work", shape: shape)
        let entries = ["a", "b"].enumerated().map { number, name in
            BrowserEntry(
                path: name, item: UInt64(number), size: 1, changed: 1, viewed: 0)
        }
        _ = state.update(.listed(entries, problem: nil))
        let promise = BrowserDetails(state: "promise")
        _ = state.update(.inspected([0: promise, 1: promise]))
        let gray = Bitmap(size: try PixelSize(width: 10, height: 10), color: 0x80_8080)
        for (version, size) in state.wantedPictures {
            // That of the second is in the store.
            _ = state.update(.pictured(version, size, gray, isStandIn: version.item == 0))
        }
        _ = state.update(.inspected([0: promise, 1: promise]))
        #expect(state.wantedPictures.isEmpty)
        let local = BrowserDetails(state: "local")
        _ = state.update(.inspected([0: local, 1: local]))
        #expect(state.wantedPictures.map(\.version.item) == [0])
    }
}
