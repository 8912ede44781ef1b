import Probing
import TestSupport
import Testing

/// Commands that are ended while they write.
@Suite(.oneAtATime, .enabled(if: isInstalled("strace"), "needs strace"))
struct EndedCommandTests {
    /// The calls in which the signal comes: what is made is whole then, or has a name, or is about to get one.
    @Test(arguments: Desk.places, ["fsync", "linkat", "rename,renameat2"])
    func `a command that is ended leaves no file with a temporary name`(
        _ place: DataPath, _ calls: String
    ) throws {
        try withDesk(place) { desk in
            try desk.run("new", "drawn.shape")
            try desk.run("render", "drawn.shape", "-o", "there.png")
            let program = try BuiltPrograms.shapeedit()
            for words in [
                "new new.shape", "render drawn.shape -o new.png", "render drawn.shape -o there.png",
                "title drawn.shape another",
            ] {
                try desk.shell(
                    """
                    strace -f -qq -o /dev/null -e trace=\(calls) -e inject=\(calls):signal=TERM \
                        '\(program)' \(words) || test $? = 143
                    """)
                #expect(try desk.names().filter { $0.hasPrefix(".g") } == [], "\(words)")
            }
        }
    }
}
