import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// The editor at the other end of a real SSH connection, in 80 columns and 24 rows.
@Suite(.oneAtATime, .enabled(if: SecureShell.isInstalled, "no SSH, or not root"))
struct EditorRemoteTests {
    private func connect(_ place: Workplace, _ shell: SecureShell) throws -> PseudoTerminal {
        let variables = place.environment.filter { $0.key != "TERM" }
            .map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        let line = "env \(variables) '\(place.program)' edit '\(place.file)'"
        return try PseudoTerminal(shell.words(for: line), environment: place.environment)
    }

    private func workplace() throws -> Workplace {
        try Workplace(
            "a.shape",
            Scene(nodes: [
                .solid(Solid(name: "Ball", shape: SolidShape(.sphere))),
                .solid(Solid(name: "Box", shape: SolidShape(.cube))),
            ]))
    }

    private func kinds(_ place: Workplace) -> [SolidKind] {
        place.scene.nodes.compactMap {
            if case .solid(let solid) = $0 { solid.shape.kind } else { nil }
        }
    }

    @Test func `keys, saving, a new size and the end go through a connection`() throws {
        let place = try workplace()
        let shell = try SecureShell(in: place.folder)
        let terminal = try connect(place, shell)
        #expect(terminal.shows("Ball", seconds: 40), "\(terminal.screen.text)")
        terminal.type("5")
        #expect(terminal.wait { kinds(place) == [.torus, .cube] })
        _ = try place.edit("set", place.file, "Box.name=Crate")
        #expect(terminal.shows("Crate"))
        terminal.resize(columns: 100, rows: 40)
        // The last row has something again, which only the new size has.
        #expect(terminal.wait { terminal.screen.lines[39].contains { $0 != " " } })
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(terminal.isRestored)
        let text = String(decoding: terminal.output, as: UTF8.self)
        #expect(text.contains("\u{1B}[?1049h") && text.contains("\u{1B}[?1049l"))
    }

    @Test func `a connection that breaks loses nothing`() throws {
        let place = try workplace()
        let shell = try SecureShell(in: place.folder)
        let terminal = try connect(place, shell)
        #expect(terminal.shows("Ball", seconds: 40), "\(terminal.screen.text)")
        terminal.type("5")
        #expect(terminal.shows("torus"))
        kill(terminal.process, SIGKILL)
        #expect(terminal.wait { kinds(place) == [.torus, .cube] })
        // And the editor is gone.
        #expect(
            try terminal.wait {
                try run(["pgrep", "-f", "shapeedit edit \(place.file)"]).status == 1
            })
    }
}
