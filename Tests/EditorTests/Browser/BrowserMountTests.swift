import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// The browser on a terminal, in a folder and in a mounted container.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain)) struct BrowserMountTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere)))
    ])

    private func browse(
        _ place: Workplace, columns: Int = 80, rows: Int = 30, options: [String] = []
    ) throws -> PseudoTerminal {
        var environment = place.environment
        environment["TERM"] = "xterm-256color"
        return try PseudoTerminal(
            [place.program, "browse", place.folder] + options, environment: environment,
            columns: columns, rows: rows)
    }

    @Test func `documents are shown, found, made, renamed, deleted and edited`() throws {
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("ball.shape", Self.scene, in: volume.directory)
            let terminal = try browse(place)
            #expect(terminal.shows("All documents"))
            #expect(terminal.shows("ball"))
            // Half blocks of a picture: the mount has made one by then.
            #expect(terminal.wait(seconds: 60) { terminal.screen.text.contains("▀▀▀") })
            terminal.type("\u{0E}\u{15}fresh.slide\r")
            #expect(terminal.shows("made fresh.slide"))
            #expect(terminal.wait { (try? place.names(with: "fresh.slide").count) == 1 })
            #expect(terminal.shows("fresh"))
            // It is selected: F2 renames it.
            terminal.type("\u{1B}OQ\u{15}other.slide\r")
            #expect(terminal.shows("other"))
            #expect(try place.names(with: "fresh").isEmpty)
            // Delete asks first.
            terminal.type("\u{1B}[3~")
            #expect(terminal.shows("Delete other.slide?"))
            terminal.type("y")
            #expect(terminal.wait { (try? place.names(with: "other").isEmpty) == true })
            // Enter opens the editor; when that is left the browser is there again.
            terminal.type("ball")
            #expect(terminal.shows("1 of 1 documents"))
            terminal.type("\r")
            #expect(terminal.shows("sphere"))
            terminal.type("5")
            #expect(terminal.shows("torus"))
            terminal.type("q")
            #expect(terminal.shows("1 of 1 documents"))
            #expect(
                terminal.wait {
                    place.scene.nodes.first.map { "\($0)".contains("torus") } == true
                })
            terminal.type("\u{1B}")
            #expect(terminal.shows("All documents"))
            terminal.type("\u{11}")
            #expect(terminal.end() == 0)
            #expect(terminal.isRestored)
        }
    }

    @Test func `what others do is seen at once`() throws {
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("first.shape", Self.scene, in: volume.directory)
            let terminal = try browse(place)
            #expect(terminal.shows("first"))
            _ = try run(["cp", place.file, place.folder + "/second.shape"])
            #expect(terminal.shows("second"))
            _ = try run(["mkdir", place.folder + "/below"])
            _ = try run(["mv", place.file, place.folder + "/below/third.shape"])
            #expect(terminal.shows("third"))
            #expect(terminal.wait { !terminal.screen.text.contains("first") })
            _ = try run(["rm", place.folder + "/second.shape"])
            #expect(terminal.wait { !terminal.screen.text.contains("second") })
            // Below a folder that came later too.
            _ = try run(
                ["cp", place.folder + "/below/third.shape", place.folder + "/below/fourth.shape"])
            #expect(terminal.shows("fourth"))
            terminal.type("\u{1B}")
            #expect(terminal.end() == 0)
        }
    }

    @Test func `outside a mount it draws itself, and without pictures it is a list`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        let terminal = try browse(place)
        #expect(terminal.wait(seconds: 60) { terminal.screen.text.contains("▀▀▀") })
        terminal.resize(columns: 30, rows: 8)
        #expect(terminal.shows("> ball.shape"))
        kill(terminal.process, SIGTERM)
        #expect(terminal.end() == 128 + Int(SIGTERM))
        #expect(terminal.isRestored)
        let plain = try browse(place, options: ["--graphics", "none"])
        #expect(plain.shows("> ball.shape"))
        plain.type("\u{1B}")
        #expect(plain.end() == 0)
    }

    @Test func `what cannot be browsed is told before the screen is taken`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        #expect(try place.edit("browse", place.folder).status == 64)
        for (path, status) in [(place.file, 66), (place.folder + "/none", 66)] {
            let terminal = try PseudoTerminal(
                [place.program, "browse", path], environment: place.environment)
            #expect(terminal.end() == status)
            #expect(!terminal.output.starts(with: [0x1B]))
        }
    }
}
