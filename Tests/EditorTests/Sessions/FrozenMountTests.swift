import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// The editor and the browser on a mount whose daemon does not answer.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct FrozenMountTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere)))
    ])

    /// Gives a test a document in a mount, and lets the daemon go on afterwards.
    private func withFrozenMount(
        _ body: (Workplace, _ send: (Int32) -> Void) throws -> Void
    ) throws {
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            let daemon = pid_t(try #require(volume.container?.daemon))
            // Also before a program is waited for that the kernel keeps until the daemon has answered.
            defer { kill(daemon, SIGCONT) }
            try body(place) { kill(daemon, $0) }
        }
    }

    /// Whether the program leaves while the daemon is stopped: the terminal is given back, and all that
    /// can be left of it is a thread for whose request the daemon had been stopped in its answer.
    private func isLeft(_ terminal: PseudoTerminal, seconds: Double = 20) -> Bool {
        terminal.wait(seconds: seconds) {
            let status = Workplace.bytes("/proc/\(terminal.process)/stat")
            let state = String(decoding: status, as: UTF8.self).split(separator: ")").last
            return (state == nil || state?.hasPrefix(" Z") == true) && terminal.isRestored
        }
    }

    /// A program that waits for the daemon has given its terminal back, and Ctrl-C ends it.
    private func expectInterruptEndsWaiting(
        of terminal: PseudoTerminal, _ send: (Int32) -> Void,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(terminal.says("Ctrl-C ends the waiting"), sourceLocation: location)
        #expect(terminal.isRestored, sourceLocation: location)
        terminal.type("\u{3}")
        #expect(isLeft(terminal), sourceLocation: location)
        send(SIGCONT)
        #expect(terminal.end() == 128 + Int(SIGINT), sourceLocation: location)
    }

    @Test func `who has nothing unsaved leaves at once`() throws {
        try withFrozenMount { place, send in
            let terminal = try place.start()
            #expect(terminal.shows("Ball"))
            send(SIGSTOP)
            defer { send(SIGCONT) }
            // It has looked at the document by then, and waits for an answer.
            usleep(1_300_000)
            terminal.type("\u{1A}?")
            #expect(terminal.shows("just quit"))
            terminal.type(" q")
            #expect(isLeft(terminal))
            send(SIGCONT)
            #expect(terminal.end() == 0)
        }
    }

    @Test func `who does not want to wait for what is being saved need not`() throws {
        try withFrozenMount { place, send in
            let terminal = try place.start()
            #expect(terminal.shows("Ball"))
            send(SIGSTOP)
            defer { send(SIGCONT) }
            terminal.type("6q")
            #expect(terminal.shows("Q leaves without"))
            terminal.type("Q")
            expectInterruptEndsWaiting(of: terminal, send)
        }
    }

    @Test func `what is unsaved when a signal comes is kept where the mount is not in the way`()
        throws
    {
        let aside = try TemporaryDirectory.make(below: nil)
        defer { TemporaryDirectory.remove(aside) }
        try withFrozenMount { place, send in
            var environment = place.environment
            environment["TMPDIR"] = aside
            let terminal = try PseudoTerminal(
                [place.program, "edit", place.file], environment: environment)
            #expect(terminal.shows("Ball"))
            send(SIGSTOP)
            defer { send(SIGCONT) }
            terminal.type("6")
            #expect(terminal.shows("pyramid"))
            kill(terminal.process, SIGTERM)
            #expect(isLeft(terminal, seconds: 60))
            send(SIGCONT)
            #expect(terminal.end() == 128 + Int(SIGTERM))
            let copies = try run(["ls", aside]).text.split(separator: "\n")
            try #require(copies.count == 1 && copies[0].contains("conflict of"))
            // Others use the folder for temporary files, too.
            #expect(try run(["stat", "-c", "%a", "\(aside)/\(copies[0])"]).text == "600\n")
            let copy = try Scene.read(Workplace.bytes("\(aside)/\(copies[0])"))
            guard case .solid(let solid) = copy.nodes.first else {
                Issue.record("no solid")
                return
            }
            #expect(solid.shape.kind == .pyramid)
        }
    }

    @Test func `the browser is left while a change waits for the mount`() throws {
        try withFrozenMount { place, send in
            let terminal = try PseudoTerminal(
                [place.program, "browse", place.folder, "--graphics", "none"],
                environment: place.environment)
            #expect(terminal.shows("> a.shape", seconds: 60))
            terminal.type("\u{4}")
            #expect(terminal.shows("Delete a.shape?"))
            send(SIGSTOP)
            defer { send(SIGCONT) }
            // It has asked for what is shown by then, and waits for an answer.
            usleep(1_300_000)
            terminal.type("y\u{11}")
            expectInterruptEndsWaiting(of: terminal, send)
        }
    }
}
