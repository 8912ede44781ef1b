import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// The browser on a terminal, in a folder and in a mounted container.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct BrowserMountTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere)))
    ])

    private func browse(
        _ place: Workplace, at folder: String? = nil, columns: Int = 80, rows: Int = 30,
        options: [String] = []
    ) throws -> PseudoTerminal {
        var environment = place.environment
        environment["TERM"] = "xterm-256color"
        return try PseudoTerminal(
            [place.program, "browse", folder ?? place.folder] + options, environment: environment,
            columns: columns, rows: rows)
    }

    @Test func `documents are shown with their pictures`() throws {
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("ball.shape", Self.scene, in: volume.directory)
            let terminal = try browse(place)
            #expect(terminal.shows("All documents", seconds: 60))
            #expect(terminal.shows("ball", seconds: 60))
            // Half blocks of a picture: the mount has made one by then.
            #expect(terminal.wait(seconds: 60) { terminal.screen.text.contains("▀▀▀") })
            terminal.type("\u{11}")
            #expect(terminal.end(seconds: 60) == 0)
            #expect(terminal.isRestored)
        }
    }

    /// As a list, where the screen tells which document is selected: what was asked for has happened
    /// when that is seen.
    @Test func `documents are made, renamed, deleted, found and edited`() throws {
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("ball.shape", Self.scene, in: volume.directory)
            let terminal = try browse(place, options: ["--graphics", "none"])
            #expect(terminal.shows("> ball.shape", seconds: 60))
            terminal.type("\u{0E}\u{15}fresh.slide\r")
            try #require(terminal.shows("> fresh.slide", seconds: 60))
            #expect(try place.names(with: "fresh.slide").count == 1)
            terminal.type("\u{1B}OQ\u{15}other.slide\r")
            try #require(terminal.shows("> other.slide", seconds: 60))
            #expect(try place.names(with: "fresh").isEmpty)
            // Delete asks first.
            terminal.type("\u{1B}[3~")
            try #require(terminal.shows("Delete other.slide?", seconds: 60))
            terminal.type("y")
            try #require(terminal.shows("> ball.shape", seconds: 60))
            #expect(try place.names(with: "other").isEmpty)
            // Enter opens the editor; when that is left the browser is there again.
            terminal.type("ball")
            try #require(terminal.shows("1 of 1 documents", seconds: 60))
            terminal.type("\r")
            try #require(terminal.shows("sphere", seconds: 60))
            terminal.type("5")
            #expect(terminal.shows("torus", seconds: 60))
            terminal.type("q")
            try #require(terminal.shows("1 of 1 documents", seconds: 60))
            #expect(place.scene.nodes.first.map { "\($0)".contains("torus") } == true)
            terminal.type("\u{1B}")
            #expect(terminal.shows("All documents", seconds: 60))
            terminal.type("\u{11}")
            #expect(terminal.end(seconds: 60) == 0)
        }
    }

    @Test func `what takes a document's name while the user is asked is left as it is`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        let folder = place.folder
        let terminal = try browse(place, options: ["--graphics", "none"])
        #expect(terminal.shows("> ball.shape", seconds: 60))
        for (key, question, answer) in [
            ("\u{1B}[3~", "Delete ball.shape?", "y"),
            ("\u{1B}OQ", "New name", "\u{15}else.shape\r"),
        ] {
            terminal.type(key)
            try #require(terminal.shows(question, seconds: 60))
            // Saved by renaming, or another document that was given that name. Numbers are given again when
            // their files are gone.
            _ = try run(["ln", "\(folder)/ball.shape", "\(folder)/.former\(question.count)"])
            _ = try run(["cp", "\(folder)/ball.shape", "\(folder)/.other"])
            _ = try run(["mv", "\(folder)/.other", "\(folder)/ball.shape"])
            terminal.type(answer)
            #expect(terminal.shows("ball.shape: another file has this name", seconds: 60))
            #expect(try place.names(with: "ball").count == 1)
        }
        // Asked anew, when the browser has seen it, it is that one.
        let isDeleted = terminal.wait(seconds: 60) {
            terminal.type("\u{1B}[3~y")
            usleep(300_000)
            return (try? place.names(with: "ball"))?.isEmpty == true
        }
        #expect(isDeleted)
        terminal.type("\u{11}")
        #expect(terminal.end(seconds: 60) == 0)
    }

    @Test func `a new name that cannot be had is told, and nothing is lost`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        _ = try run(["mkdir", place.folder + "/taken"])
        let terminal = try browse(place, options: ["--graphics", "none"])
        #expect(terminal.shows("> ball.shape", seconds: 60))
        terminal.type("\u{1B}OQ\u{15}taken\r")
        #expect(terminal.shows("taken: File exists", seconds: 60))
        terminal.type("\u{1B}OQ\u{15}none/new.shape\r")
        #expect(terminal.shows("none/new.shape: No such file or directory", seconds: 60))
        #expect(try place.names(with: "ball.shape").count == 1)
        terminal.type("\u{11}")
        #expect(terminal.end(seconds: 60) == 0)
    }

    @Test func `titles are shown and found`() throws {
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("ball.shape", Self.scene, in: volume.directory)
            let slide = place.folder + "/f1.slide"
            for words in [["new", slide], ["title", slide, "My Fancy Title"]] {
                #expect(try run([place.program] + words).status == 0)
            }
            let terminal = try browse(place, options: ["--graphics", "none"])
            #expect(terminal.shows("f1.slide  My Fancy Title", seconds: 60))
            terminal.type("Fancy")
            #expect(terminal.shows("1 of 2 documents", seconds: 60))
            terminal.type("\u{1B}")
            #expect(terminal.shows("All documents", seconds: 60))
            // Of what is saved meanwhile too.
            #expect(try run([place.program, "title", slide, "Another One"]).status == 0)
            #expect(terminal.shows("f1.slide  Another One", seconds: 60))
            terminal.type("\u{11}")
            #expect(terminal.end(seconds: 60) == 0)
        }
    }

    @Test func `titles of what another container grants are shown too`() throws {
        try withVolume(.noPassthrough) { volume in
            let owner = try #require(volume.container)
            let place = try Workplace("ball.shape", Self.scene, in: volume.directory)
            let slide = place.folder + "/f1.slide"
            for words in [["new", slide], ["title", slide, "My Fancy Title"]] {
                #expect(try run([place.program] + words).status == 0)
            }
            let app = try Container(name: "notes", user: owner.user, dataHome: owner.dataHome)
            defer { app.remove() }
            try app.mount(asApp: true)
            let granting = try app.command("grant", slide, "--to", "notes")
            #expect(granting.status == 0, "\(granting)")
            let terminal = try browse(
                place, at: app.mountPoint, options: ["--graphics", "none"])
            #expect(terminal.shows("f1.slide  My Fancy Title", seconds: 30))
            terminal.type("\u{11}")
            #expect(terminal.end(seconds: 60) == 0)
            try app.unmount()
        }
    }

    @Test func `what others do is seen at once`() throws {
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("first.shape", Self.scene, in: volume.directory)
            let terminal = try browse(place)
            #expect(terminal.shows("first", seconds: 60))
            _ = try run(["cp", place.file, place.folder + "/second.shape"])
            #expect(terminal.shows("second", seconds: 60))
            _ = try run(["mkdir", place.folder + "/below"])
            _ = try run(["mv", place.file, place.folder + "/below/third.shape"])
            #expect(terminal.shows("third", seconds: 60))
            #expect(terminal.wait(seconds: 60) { !terminal.screen.text.contains("first") })
            _ = try run(["rm", place.folder + "/second.shape"])
            #expect(
                terminal.wait(seconds: 60) { !terminal.screen.text.contains("second") })
            // Below a folder that came later too.
            _ = try run(
                ["cp", place.folder + "/below/third.shape", place.folder + "/below/fourth.shape"])
            #expect(terminal.shows("fourth", seconds: 60))
            terminal.type("\u{1B}")
            #expect(terminal.end(seconds: 60) == 0)
        }
    }

    @Test func `outside a mount it draws itself, and without pictures it is a list`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        let viewed = try run(["stat", "-c", "%x", place.file]).text
        let terminal = try browse(place)
        #expect(terminal.wait(seconds: 60) { terminal.screen.text.contains("▀▀▀") })
        // Else all documents were viewed lately, because they were drawn.
        #expect(try run(["stat", "-c", "%x", place.file]).text == viewed)
        terminal.resize(columns: 30, rows: 8)
        #expect(terminal.shows("> ball.shape", seconds: 60))
        kill(terminal.process, SIGTERM)
        #expect(terminal.end() == 128 + Int(SIGTERM))
        #expect(terminal.isRestored)
        let plain = try browse(place, options: ["--graphics", "none"])
        #expect(plain.shows("> ball.shape", seconds: 60))
        plain.type("\u{1B}")
        #expect(plain.end() == 0)
    }

    /// A shell with a browser, in whose editor a key was pressed.
    private func shell(_ place: Workplace) throws -> PseudoTerminal {
        var environment = place.environment
        environment["TERM"] = "xterm-256color"
        let terminal = try PseudoTerminal(
            ["bash", "--norc", "--noediting", "-i"], environment: environment)
        terminal.type("\(place.program) browse --graphics none \(place.folder)\n")
        #expect(terminal.shows("> ball.shape", seconds: 60))
        terminal.type("\r")
        #expect(terminal.shows("sphere", seconds: 60))
        terminal.type("5")
        #expect(terminal.shows("torus", seconds: 60))
        return terminal
    }

    @Test func `the editor of a browser is stopped and resumed with it`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        let terminal = try shell(place)
        let cooked = UInt32(ICANON | ECHO)
        terminal.type("\u{1A}")
        #expect(
            terminal.wait { String(decoding: terminal.output, as: UTF8.self).contains("Stopped") })
        #expect(terminal.settings.c_lflag & cooked == cooked)
        terminal.type("fg\n")
        #expect(terminal.wait { terminal.settings.c_lflag & cooked == 0 })
        terminal.type("6")
        #expect(terminal.wait { place.kinds == [.pyramid] })
        terminal.type("q")
        #expect(terminal.shows("All documents", seconds: 60))
        terminal.type("\u{11}")
        #expect(terminal.wait { terminal.settings.c_lflag & cooked == cooked })
    }

    @Test func `a stopped browser and its editor end by a signal without the terminal`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        let terminal = try shell(place)
        terminal.type("\u{1A}")
        #expect(
            terminal.wait { String(decoding: terminal.output, as: UTF8.self).contains("Stopped") })
        // As a shell does it to a stopped job, and whoever shuts a machine down.
        terminal.type("kill %1\n")
        #expect(
            terminal.wait {
                // The shell tells of it before a prompt.
                terminal.type("\n")
                return String(decoding: terminal.output, as: UTF8.self).contains("Terminated")
            })
        #expect(place.kinds == [.torus])
    }

    @Test func `a signal for a browser is one for its editor, which saves`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        let terminal = try browse(place, options: ["--graphics", "none"])
        #expect(terminal.shows("> ball.shape", seconds: 60))
        terminal.type("\r")
        #expect(terminal.shows("sphere", seconds: 60))
        terminal.type("5")
        #expect(terminal.shows("torus", seconds: 60))
        kill(terminal.process, SIGTERM)
        #expect(terminal.end() == 128 + Int(SIGTERM))
        #expect(terminal.isRestored)
        #expect(place.kinds == [.torus])
    }

    @Test func `what was asked for is done by who leaves at once`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        for number in 1...5 {
            let terminal = try browse(place, options: ["--graphics", "none"])
            #expect(terminal.shows("> ball.shape", seconds: 60))
            terminal.type("\u{0E}\u{15}new\(number).list\r\u{11}")
            #expect(terminal.end() == 0)
            #expect(try place.names(with: "new\(number).list").count == 1)
        }
        // What could not be done is told where it can be seen.
        let terminal = try browse(place, options: ["--graphics", "none"])
        #expect(terminal.shows("> ball.shape", seconds: 60))
        terminal.type("\u{0E}\u{15}new1.list\r\u{11}")
        #expect(terminal.end() == 0)
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("exists already"))
    }

    @Test func `what cannot be browsed is told before the screen is taken`() throws {
        let place = try Workplace("ball.shape", Self.scene)
        let refused = try place.edit("browse", place.folder)
        #expect(refused.status == 64)
        #expect(refused.errorText.contains("`find`"), "\(refused)")
        for (path, status) in [(place.file, 66), (place.folder + "/none", 66)] {
            let terminal = try PseudoTerminal(
                [place.program, "browse", path], environment: place.environment)
            #expect(terminal.end() == status)
            #expect(!terminal.output.starts(with: [0x1B]))
        }
    }
}
