import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// The browser in folders with more documents than it shows.
@Suite(.oneAtATime) struct LargeFolderTests {
    /// Documents in each of the large folders: alone they are more than are shown.
    private static let count = 20_500

    @Test func `documents near by are shown though there are too many farther below`() throws {
        let place = try Workplace("ball.shape", Scene())
        for folder in ["one", "two"] {
            for name in [folder, folder + "/far"] { mkdir(place.folder + "/" + name, 0o755) }
            try touch("\(place.folder)/\(folder)/near.slide")
            for number in 0..<Self.count {
                try touch("\(place.folder)/\(folder)/far/\(number).slide")
            }
        }
        var environment = place.environment
        environment["TERM"] = "xterm-256color"
        let terminal = try PseudoTerminal(
            [place.program, "browse", place.folder, "--graphics", "none"],
            environment: environment, columns: 80, rows: 30)
        #expect(terminal.shows("All documents", seconds: 60))
        terminal.type("near")
        #expect(terminal.shows("2 of 20000+ documents", seconds: 60))
        terminal.type("\u{11}")
        #expect(terminal.end(seconds: 60) == 0)
    }

    private func touch(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        try #require(file >= 0)
        close(file)
    }
}
