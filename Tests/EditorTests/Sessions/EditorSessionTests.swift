import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// The editor on a terminal, as a user has it.
@Suite(.oneAtATime) struct EditorSessionTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere))),
        .solid(Solid(name: "Box", shape: SolidShape(.cube))),
    ])

    private func kind(_ place: Workplace, _ index: Int) -> SolidKind? {
        guard place.scene.nodes.indices.contains(index),
            case .solid(let solid) = place.scene.nodes[index]
        else { return nil }
        return solid.shape.kind
    }

    @Test func `what is edited is in the file after a quiet second, and q gives the terminal back`()
        throws
    {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball") && terminal.shows("▀"))
        #expect(!terminal.isRestored)
        terminal.type("\u{1B}[B5")
        #expect(terminal.shows("torus"))
        #expect(terminal.wait { kind(place, 1) == .torus })
        terminal.type("1q")
        #expect(terminal.end() == 0)
        #expect(kind(place, 1) == .sphere)
        #expect(terminal.isRestored)
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("\u{1B}[?1049l"))
    }

    @Test(arguments: [
        SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGPWR, SIGALRM,
    ])
    func `a signal saves, gives the terminal back and ends`(_ signal: Int32) throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball"))
        terminal.type("6")
        #expect(terminal.shows("pyramid"))
        kill(terminal.process, signal)
        #expect(terminal.end() == 128 + Int(signal))
        #expect(terminal.isRestored)
        #expect(kind(place, 0) == .pyramid)
    }

    @Test func `what was typed before a signal is in the file`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball"))
        kill(terminal.process, SIGSTOP)
        terminal.type("6")
        kill(terminal.process, SIGTERM)
        kill(terminal.process, SIGCONT)
        #expect(terminal.end() == 128 + Int(SIGTERM))
        #expect(kind(place, 0) == .pyramid)
    }

    @Test func `what another program keeps from being saved when a signal comes is kept in a copy`()
        throws
    {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball"))
        let file = open(place.file, O_RDONLY)
        defer { close(file) }
        #expect(flock(file, LOCK_EX) == 0)
        terminal.type("6")
        #expect(terminal.shows("pyramid"))
        kill(terminal.process, SIGHUP)
        // The lock is waited for as long as by any edit.
        #expect(terminal.end(seconds: 60) == 128 + Int(SIGHUP))
        #expect(kind(place, 0) == .sphere)
        let copies = try place.names(with: "conflict of")
        try #require(copies.count == 1)
        let copy = try Scene.read(Workplace.bytes("\(place.folder)/\(copies[0])"))
        guard case .solid(let solid) = copy.nodes.first else {
            Issue.record("no solid in the copy")
            return
        }
        #expect(solid.shape.kind == .pyramid)
    }

    @Test(arguments: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP])
    func `a crash gives the terminal back and ends as it would`(_ signal: Int32) throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball"))
        kill(terminal.process, signal)
        #expect(terminal.end() == 128 + Int(signal))
        #expect(terminal.isRestored)
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("\u{1B}[?1049l"))
    }

    @Test func `a terminal that reads nothing keeps nobody from ending`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start(columns: 300, rows: 100)
        #expect(terminal.shows("Ball"))
        // More than a terminal holds that nobody reads from.
        terminal.type(String(repeating: "o\u{1B}[C\u{1B}[D", count: 20) + "6")
        usleep(2_000_000)
        kill(terminal.process, SIGTERM)
        // It is not waited for, which would read; and less than what a signal leaves it at most.
        var information = siginfo_t()
        var isOver = false
        for _ in 0..<200 where !isOver {
            usleep(100_000)
            let found = waitid(
                P_PID, id_t(terminal.process), &information, WEXITED | WNOWAIT | WNOHANG)
            isOver = found == 0 && information.si_signo == SIGCHLD
        }
        #expect(isOver)
        #expect(terminal.end() == 128 + Int(SIGTERM))
        // When it reads again it is told that it is given back, whatever was cut off before.
        #expect(terminal.isRestored)
        let told = String(decoding: terminal.output.suffix(120), as: UTF8.self)
        #expect(told.contains("\u{1B}\\\u{1B}[?2026l") && told.hasSuffix("\u{1B}[?1049l"))
    }

    @Test func `closing the window saves`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball"))
        terminal.type("4")
        #expect(terminal.shows("cone"))
        terminal.hangUp()
        #expect(terminal.end() == 128 + Int(SIGHUP))
        #expect(kind(place, 0) == .cone)
    }

    /// By itself and from a script, whose shell stops with it.
    @Test(arguments: ["", "sh -c '\"$0\" \"$@\"; true' "])
    func `stopped it gives the terminal back, resumed it takes it again`(_ script: String) throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.shell()
        terminal.type("\(script)\(place.program) edit \(place.file)\n")
        #expect(terminal.shows("Box"))
        #expect(terminal.shows("▀"))
        terminal.type("6\u{1A}")
        #expect(terminal.says("Stopped"))
        #expect(terminal.settings.c_lflag & UInt32(ICANON | ECHO) == UInt32(ICANON | ECHO))
        #expect(kind(place, 0) == .pyramid)
        // In the background it has to wait for the terminal.
        terminal.type("bg\n")
        #expect(
            terminal.wait {
                String(decoding: terminal.output, as: UTF8.self).ranges(of: "bash-").count >= 3
            })
        terminal.type("fg\n")
        #expect(terminal.wait { terminal.settings.c_lflag & UInt32(ICANON) == 0 })
        terminal.type("2")
        #expect(terminal.wait { kind(place, 0) == .cube })
        terminal.type("q")
        // At the start, after stopping, in the background and now: what is typed before the
        // prompt is dropped.
        #expect(
            terminal.wait {
                String(decoding: terminal.output, as: UTF8.self).ranges(of: "bash-").count >= 4
            })
        #expect(terminal.settings.c_lflag & UInt32(ICANON | ECHO) == UInt32(ICANON | ECHO))
        terminal.type("exit\n")
        #expect(terminal.end() == 0)
    }

    @Test func `started in the background it waits for the terminal, or ends when it is to`()
        throws
    {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.shell()
        let end = "kill %1; while kill -0 $! 2>&-; do sleep 0.1; done"
        for (command, said) in [(end, "Terminated"), ("fg; exit", "Box")] {
            // The shell tells by its own status that the editor was stopped.
            let start = "\(place.program) edit \(place.file) & wait $!; echo \(said) $?"
            terminal.type("\(start); \(command)\n")
            #expect(terminal.says("\(said) \(128 + SIGTTOU)"))
            #expect(terminal.says(said), "\(command)")
        }
        terminal.type("q")
        #expect(terminal.end() == 0)
    }

    @Test func `who waits for what is being saved can stop that and go on with it`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.shell()
        let file = open(place.file, O_RDONLY)
        defer { close(file) }
        #expect(flock(file, LOCK_EX) == 0)
        terminal.type("\(place.program) edit \(place.file)\n")
        #expect(terminal.shows("Box"))
        terminal.type("6q")
        #expect(terminal.shows("Q leaves without"))
        terminal.type("Q")
        #expect(terminal.says("Ctrl-C ends the waiting"))
        terminal.type("\u{1A}")
        #expect(terminal.says("Stopped"))
        terminal.type("fg && echo all is well | tr a-z A-Z\n")
        #expect(flock(file, LOCK_UN) == 0)
        #expect(terminal.says("ALL IS WELL"))
        #expect(kind(place, 0) == .pyramid)
        terminal.type("exit\n")
        #expect(terminal.end() == 0)
    }

    @Test func `what others change is shown at once, and both sides stay`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball"))
        terminal.type("5")
        #expect(terminal.shows("torus"))
        let result = try place.edit("set", place.file, "Box.name=Crate")
        #expect(result.status == 0, "\(result)")
        #expect(terminal.shows("Crate"))
        #expect(terminal.wait { kind(place, 0) == .torus })
        #expect(place.names == ["Ball", "Crate"])
        terminal.type("q")
        #expect(terminal.end() == 0)
    }

    @Test func `an edit of what others removed is kept in a copy`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball"))
        terminal.type("5")
        try place.write(Scene(nodes: [Self.scene.nodes[1]]))
        #expect(terminal.shows("Your text is in"))
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(place.names == ["Box"])
        let copies = try place.names(with: "conflict of")
        try #require(copies.count == 1)
        #expect(copies[0].hasPrefix("a (conflict of 20") && copies[0].hasSuffix(").shape"))
        let copy = try Scene.read(Workplace.bytes("\(place.folder)/\(copies[0])"))
        #expect(copy.nodes.map(\.name) == ["Ball", "Box"])
    }

    @Test func `undo and redo work here and go on from the command line`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("Ball"))
        terminal.type("5")
        #expect(terminal.shows("torus"))
        terminal.type("u")
        #expect(terminal.shows("Undone"))
        #expect(kind(place, 0) == .sphere)
        terminal.type("U")
        #expect(terminal.wait { kind(place, 0) == .torus })
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(try place.edit("undo", place.file).status == 0)
        #expect(kind(place, 0) == .sphere)
    }

    @Test func `an edit that cannot be undone says so`() throws {
        let place = try Workplace("a.shape", Self.scene)
        var environment = place.environment
        environment["XDG_STATE_HOME"] = place.file
        let terminal = try PseudoTerminal(
            [place.program, "edit", place.file], environment: environment)
        #expect(terminal.shows("Ball"))
        terminal.type("5w")
        #expect(terminal.shows("Saved, but it cannot be undone"))
        terminal.type("6q")
        #expect(terminal.end() == 0)
        #expect(terminal.says("shapeedit: a.shape: Saved, but it cannot be undone"))
        #expect(kind(place, 0) == .pyramid)
    }

    @Test func `another size draws another screen`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(terminal.shows("▀"))
        terminal.resize(columns: 40, rows: 10)
        #expect(terminal.wait { ["> ", ">█"].contains(where: terminal.screen.text.contains) })
        #expect(terminal.shows("Box") && !terminal.screen.text.contains("▀"))
        terminal.resize(columns: 100, rows: 30)
        #expect(terminal.shows("▀"))
        terminal.type("q")
        #expect(terminal.end() == 0)
    }

    @Test func `a list is kept`() throws {
        let place = try Workplace("a.list", TaskList(items: [TaskItem("bread")]))
        let terminal = try place.start(columns: 40, rows: 10)
        #expect(terminal.shows("bread"))
        terminal.type("amilk\r\u{1B}[B q")
        #expect(terminal.end() == 0)
        let list = try TaskList.read(place.bytes)
        #expect(list.items.map(\.text) == ["milk", "bread"])
        #expect(list.items.map(\.isComplete) == [false, true])
    }

    @Test func `a terminal that answers gets pictures in its own way`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start()
        #expect(
            terminal.wait { String(decoding: terminal.output, as: UTF8.self).contains("\u{1B}[c") })
        terminal.type("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;22c")
        #expect(
            terminal.wait { String(decoding: terminal.output, as: UTF8.self).contains("a=T,f=100") }
        )
        #expect(!terminal.screen.text.contains("▀"))
        terminal.type("?")
        #expect(terminal.shows("undo, redo"))
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("\u{1B}_Ga=d"))
        terminal.type("xq")
        #expect(terminal.end() == 0)
        #expect(place.names == ["Ball", "Box"])
    }

    @Test func `the controlling terminal by its general name will do`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try PseudoTerminal(
            ["sh", "-c", "\(place.program) edit \(place.file) </dev/tty"],
            environment: place.environment)
        #expect(terminal.shows("Box"))
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(terminal.isRestored)
    }

    @Test func `pipes and dumb terminals get an error and no sequences`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let piped = try place.edit("edit", place.file)
        #expect(piped.status == 64)
        #expect(piped.errorText.contains("not a terminal"))
        #expect(piped.output.isEmpty && !piped.errors.contains(0x1B))
        for name in ["dumb", ""] {
            let terminal = try place.start(terminal: name)
            #expect(terminal.end() == 69)
            #expect(!terminal.output.contains(0x1B))
        }
        let missing = try PseudoTerminal(
            [place.program, "edit", "\(place.folder)/none.shape"], environment: place.environment)
        #expect(missing.end() == 66)
        #expect(!missing.output.contains(0x1B))
    }
}
