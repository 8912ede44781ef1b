import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct ConcurrencyTests {
    private static let writers = 20

    @Test(.timeLimit(.minutes(10)), arguments: Desk.places)
    func `edits of different parts at the same time all land`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape", "--template", "empty")
            let parts = (1...Self.writers).map { "add cube Box\($0)" }.joined(separator: "\n")
            try desk.run("apply", "s.shape", "-", input: Array(parts.utf8))
            let steps = try desk.run("history", "s.shape").split(separator: "\n").count
            func edit(_ number: Int) throws -> RunningProgram {
                try desk.start(["set", "s.shape", "Box\(number).position=\(number),0,\(number)"])
            }
            let programs = try (1...Self.writers).map { try edit($0) }
            var reads = 0
            // Whoever reads meanwhile finds one whole version.
            while programs.contains(where: \.isRunning) {
                let bytes = try #require(desk.bytes("s.shape"))
                let value = try? JSONValue.read(bytes)
                let count = value?["nodes"]?.elements.count
                #expect(
                    count == Self.writers,
                    "a torn file of \(bytes.count) bytes: \(String(decoding: bytes, as: UTF8.self))"
                )
                if count != Self.writers { break }
                reads += 1
            }
            let end = ContinuousClock.now + .seconds(120)
            for (index, program) in programs.enumerated() {
                var result = program.wait()
                // Who gave up, because the others took too long, has changed nothing.
                while result.status == 75, ContinuousClock.now < end {
                    result = try edit(index + 1).wait()
                }
                #expect(result.status == 0, "\(index + 1): \(result)")
            }
            #expect(reads > 0)
            for number in 1...Self.writers {
                #expect(
                    try desk.get("s.shape", "Box\(number).position") == "\(number),0,\(number)")
            }
            // Each is a step of its own.
            let after = try desk.run("history", "s.shape").split(separator: "\n")
            #expect(after.count == steps + Self.writers, "\(after.joined(separator: "\n"))")
            #expect(!after.contains { $0.contains("another program") }, "\(after)")
            for _ in 1...Self.writers { try desk.run("undo", "s.shape") }
            for number in 1...Self.writers {
                #expect(try desk.get("s.shape", "Box\(number).position") == "0,0,0")
            }
            #expect(try desk.names() == ["s.shape"])
        }
    }

    /// With another name the file is written in place.
    @Test(
        .enabled(if: isInstalled("strace"), "needs strace"),
        arguments: ["title s.shape mine", "undo s.shape"], ["true", "ln s.shape another"])
    func `what a program without locks writes while an edit is made is not lost`(
        _ words: String, _ before: String
    ) throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.run("title", "s.shape", "old")
            let theirs = #"{"version": 1, "nodes": [{"name": "Theirs", "type": "cube"}]}"#
            // It stops when it has read the document, and asks whether it may write it.
            try desk.shell(
                """
                \(before)
                strace -f -qq -o log -e trace=faccessat2 -e inject=faccessat2:signal=STOP:when=1 \
                    '\(try BuiltPrograms.shapeedit())' \(words) & tracer=$!
                until grep -q 'stopped by' log || ! kill -0 $tracer; do sleep 0.05; done
                printf '%s' '\(theirs)' > s.shape
                kill -CONT $(sed -n 's/ .*stopped by.*//p' log)
                wait $tracer
                """)
            try desk.shell("rm log")
            if words.hasPrefix("title") {
                #expect(try desk.get("s.shape", "title") == "mine")
                #expect(try desk.get("s.shape", "Theirs.shape") == "cube")
                try desk.run("undo", "s.shape")
                #expect(desk.bytes("s.shape") == Array(theirs.utf8))
            } else {
                // It took back what was the last change by then.
                #expect(try desk.get("s.shape", "title") == "old")
                try desk.run("redo", "s.shape")
                #expect(desk.bytes("s.shape") == Array(theirs.utf8))
            }
        }
    }

    @Test func `an edit that the next one follows at once is not called one that cannot be undone`()
        throws
    {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.list")
            for program in try (1...16).map({ try desk.start(["list", "add", "a.list", "\($0)"]) })
            {
                let result = program.wait()
                #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
            }
            #expect(try desk.run("history", "a.list").split(separator: "\n").count == 17)
        }
    }

    /// Where it takes long until a new file is durable, others move the document meanwhile, or put another
    /// one in its place without asking for the lock.
    @Test(.enabled(if: isInstalled("strace"), "needs strace"))
    func `an edit takes no name back that others gave away, and is made on what they put there`()
        throws
    {
        try withDesk(.plain) { desk in
            let program = try BuiltPrograms.shapeedit()
            func edit(_ words: String, while others: String) throws -> String {
                let delay = "inject=fsync:delay_enter=1000000:when=1"
                let slow = "strace -f -qq -o /dev/null -e trace=fsync -e \(delay)"
                return try desk.shell(
                    """
                    \(slow) '\(program)' \(words) 2>&1 &
                    while kill -0 $! && flock -n a.list true; do sleep 0.01; done
                    \(others)
                    wait $! || echo "ended with $?"
                    """)
            }
            try desk.run("new", "a.list")
            try desk.run("list", "add", "a.list", "milk")
            for words in ["list add a.list tea", "undo a.list"] {
                let told = try edit(words, while: "mv a.list b.list")
                #expect(told == "shapeedit: a.list: No such file or directory\nended with 66\n")
                #expect(try desk.names() == ["b.list"])
                #expect(try desk.run("list", "copy", "b.list") == "milk\n")
                try desk.shell("mv b.list a.list")
            }
            try desk.run("new", "other.list")
            try desk.run("list", "add", "other.list", "bread")
            let told = try edit("list add a.list tea", while: "mv other.list a.list")
            #expect(told == "item.1: added [ ] tea\n")
            #expect(try desk.names() == ["a.list"])
            #expect(try desk.run("list", "copy", "a.list") == "tea\nbread\n")
        }
    }

    @Test func `who has a document too long is said`() throws {
        // In a mount, unless there are none: a lock and a claim, and a lock outside of it.
        try withDesk(Desk.places[Desk.places.count - 1]) { desk in
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            let names = ["s.shape", "\(folder)/s.shape", "claimed.shape"]
            for name in names { try desk.run("new", name) }
            let holders = try [
                flock(desk, names[0]), flock(desk, names[1]),
                desk.start(["coordinate", "--write", names[2], "--", "sleep", "600"]),
            ]
            defer {
                for holder in holders {
                    holder.kill(signal: SIGKILL, group: true)
                    _ = holder.wait()
                }
            }
            // Until they have them. To open what is claimed takes long.
            func isHeld(_ name: String) throws -> Bool {
                if name == names[2], !DataPath.isPlain {
                    return try desk.shapeedit(["claims", "."]).text.contains("has write on")
                }
                let words = ["flock", "-n", name, "true"]
                return try Probing.run(words, directory: desk.folder).status != 0
            }
            for name in names { try waitUntil { try isHeld(name) } }
            let programs = try names.map { try desk.start(["set", $0, "title=x"]) }
            for (index, program) in programs.enumerated() {
                let (result, holder) = (program.wait(), holders[index].process)
                let who = "\(index < 2 ? "flock" : "shapeedit") (process \(holder)) has "
                #expect(result.status == 75, "\(result)")
                #expect(result.errorText.contains(who), "\(result)")
            }
            // Since when the kernel does not tell.
            if !DataPath.isPlain {
                #expect(programs[0].wait().errorText.contains("s.shape locked since "))
                #expect(programs[2].wait().errorText.contains("write on "))
            }
            // Reading needs no lock.
            #expect(try desk.get("s.shape", "Sphere.shape") == "sphere")
        }
    }

    /// A program that locks a file.
    private func flock(_ desk: Desk, _ name: String) throws -> RunningProgram {
        try RunningProgram(
            ["flock", name, "sleep", "600"].map { Array($0.utf8) }, directory: desk.folder)
    }
}
