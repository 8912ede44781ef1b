import Glibc
import Probing
import TestSupport
import Testing

/// Pictures in terminals that show them, seen on the screen: a blue page with a red ball in the
/// middle is there as a whole, where the terminal has room for it.
@Suite(.oneAtATime, .enabled(if: VirtualDisplay.isInstalled, "Xvfb is not installed"))
struct TerminalWindowTests {
    /// A terminal, and how it is told to run a line of shell in 80 columns and 24 rows.
    struct Terminal: CustomTestStringConvertible, Sendable {
        var name: String
        var words: [String]
        var graphics: String

        var testDescription: String { "\(name), \(graphics)" }

        static let all = [
            // Nobody tells it which pictures there are: it is asked.
            Terminal(
                name: "xterm", words: ["xterm", "-ti", "vt340", "-geometry", "80x24+0+0", "-e"],
                graphics: "auto"),
            Terminal(name: "mlterm", words: ["mlterm", "-g", "80x24", "-e"], graphics: "sixel"),
            Terminal(name: "mlterm", words: ["mlterm", "-g", "80x24", "-e"], graphics: "iterm"),
            Terminal(
                name: "kitty",
                words: [
                    "kitty", "--config", "NONE", "-o", "remember_window_size=no",
                    "-o", "initial_window_width=80c", "-o", "initial_window_height=24c",
                ], graphics: "auto"),
        ]
    }

    @Test(arguments: Terminal.all)
    func `a picture is shown as a whole`(_ terminal: Terminal) throws {
        guard isInstalled(terminal.name) else { try Test.cancel("no \(terminal.name)") }
        try withDesk(.plain) { desk in
            try desk.run("new", "Ball.shape")
            try desk.run("background", "Ball.shape", "#0000ff")
            let display = try VirtualDisplay()
            let show = "exec 2> errors; \"$0\" show --graphics \(terminal.graphics) Ball.shape"
            let window = try RunningProgram(
                (terminal.words + [
                    "sh", "-c", "\(show); touch shown; sleep 300", try BuiltPrograms.shapeedit(),
                ]).map { Array($0.utf8) },
                directory: desk.folder,
                environment: [
                    "DISPLAY": display.name, "HOME": desk.folder, "PATH": "/usr/bin:/bin",
                    "LANG": "C.UTF-8", "LIBGL_ALWAYS_SOFTWARE": "1",
                    "XDG_STATE_HOME": desk.stateHome,
                ])
            defer {
                window.kill(signal: SIGKILL, group: true)
                _ = window.wait(seconds: 10)
            }
            var screen = try display.screen()
            // Shown, and the terminal is done with drawing: two looks see the same.
            for _ in 0..<240 {
                usleep(250_000)
                let now = try display.screen()
                if desk.bytes("shown") != nil, now == screen, self.page(in: now) != nil { break }
                screen = now
            }
            #expect(desk.bytes("errors") == [])
            let page = try #require(self.page(in: screen), "no picture on the screen")
            let ball = try #require(
                screen.box(within: page) { $0 >> 16 > 0x80 && $0 & 0xFF < 0x80 }, "no ball")
            // The page has the shape of the window, and what is cut would not be in the middle.
            #expect(page.width > page.height && page.width >= 300, "\(page)")
            #expect(abs(ball.middle.x - page.middle.x) <= 8, "\(ball) in \(page)")
            #expect(abs(ball.middle.y - page.middle.y) <= 8, "\(ball) in \(page)")
            #expect(abs(ball.width - ball.height) <= 8, "\(ball)")
        }
    }

    private func page(in screen: ScreenImage) -> ScreenImage.Box? {
        screen.box { $0 & 0xFF > 0xF0 && $0 >> 16 < 0x10 && $0 >> 8 & 0xFF < 0x10 }
    }
}
