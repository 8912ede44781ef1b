import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// `show`, which asks the terminal how it takes pictures without taking it over.
@Suite(.oneAtATime) struct ShownPictureTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere)))
    ])

    private func contains(_ terminal: PseudoTerminal, _ text: String) -> Bool {
        String(decoding: terminal.output, as: UTF8.self).contains(text)
    }

    @Test func `a signal while the terminal is asked leaves it as it was`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try PseudoTerminal(
            [place.program, "show", place.file], environment: place.environment)
        // Nobody answers.
        #expect(terminal.wait { contains(terminal, "\u{1B}[c") })
        terminal.type("\u{3}")
        // A busy machine may have drawn it before the key came.
        #expect([0, 128 + Int(SIGINT)].contains(terminal.end()))
        #expect(terminal.isRestored)
    }

    @Test func `an answer that comes late over SSH is not typed into the shell`() throws {
        let place = try Workplace("a.shape", Self.scene)
        var environment = place.environment
        environment["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
        let line = "\(place.program) show \(place.file); read -t 2 typed; echo \"<$typed>\""
        let terminal = try PseudoTerminal(["bash", "-c", line], environment: environment)
        #expect(terminal.wait { contains(terminal, "\u{1B}[c") })
        // A satellite's way there and back.
        terminal.wait(seconds: 0.7) { false }
        terminal.type("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62c")
        #expect(terminal.wait { contains(terminal, "a=T") })
        terminal.type("mine\r")
        #expect(terminal.wait { contains(terminal, "<mine>") })
    }

    @Test func `in the background it asks nothing and is not stopped`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.shell()
        terminal.type("\(place.program) show \(place.file) & wait; echo fini''shed\n")
        #expect(terminal.wait { contains(terminal, "finished") && contains(terminal, "▀") })
        #expect(!contains(terminal, "Stopped") && !contains(terminal, "\u{1B}[c"))
    }

    @Test func `JSON is no reason to ask`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try PseudoTerminal(
            [place.program, "show", "--json", place.file], environment: place.environment)
        #expect(terminal.end() == 0)
        #expect(contains(terminal, "\"facts\"") && !terminal.output.contains(0x1B))
    }
}
