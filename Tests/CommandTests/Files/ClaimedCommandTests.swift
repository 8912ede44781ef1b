import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct ClaimedCommandTests {
    /// Edits one after another, at once, in a claim within the claim; then waits for a file `over`.
    private static let script = """
        S=$(readlink /proc/$PPID/exe)
        $S set s.shape title=first || exit 11
        $S set s.shape Sphere.color=#112233 & a=$!
        $S set s.shape Sphere.position=1,2,3 & b=$!
        wait $a || exit 12
        wait $b || exit 13
        $S history s.shape > /dev/null || exit 14
        $S coordinate --write s.shape -- $S set s.shape title=second || exit 15
        $S undo s.shape || exit 16
        $S redo s.shape || exit 17
        touch begun
        while ! test -e over; do sleep 0.05; done
        test "$($S get s.shape title)" = second || exit 18
        $S set s.shape title=third || exit 19
        """

    @Test(.timeLimit(.minutes(3)), arguments: Desk.places)
    func `a command edits what it has claimed, and others wait for its end`(
        _ place: DataPath
    ) throws { try withDesk(place) { desk in try check(desk, "s.shape") } }

    @Test(.timeLimit(.minutes(3)))
    func `so it does outside of mounts`() throws {
        try withDesk(Desk.places[0]) { desk in
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            try check(desk, folder + "/s.shape")
        }
    }

    @Test(arguments: Desk.places)
    func `a command ignores what it would ignore without a claim`(_ place: DataPath) throws {
        let program = try BuiltPrograms.shapeedit()
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            for signal in ["HUP", "INT", "QUIT", "TERM"] {
                for (trap, answer) in [("trap '' \(signal);", "alive\n"), ("", "")] {
                    let found = try desk.shell(
                        """
                        (\(trap) exec '\(program)' coordinate --write s.shape -- \
                        sh -c 'kill -\(signal) $$; echo alive') || true
                        """)
                    #expect(found == answer, "\(signal), \(trap)")
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `outside of mounts each of two files whose names look alike is lent`() throws {
        try withDesk(.plain) { desk in
            let names = ["caf\u{e9}.shape", "cafe\u{301}.shape"]
            for name in names { try desk.run("new", name) }
            let edits = names.map { "$S set \($0) title=mine" }.joined(separator: " && ")
            try desk.run(
                "coordinate", "--write", names[0], "--write", names[1], "--", "sh", "-c",
                "S=$(readlink /proc/$PPID/exe); \(edits)")
            for name in names { #expect(try desk.get(name, "title") == "mine") }
        }
    }

    /// As on NFS, and where there is nobody who keeps locks. strace(1) counts calls for each process.
    @Test(.enabled(if: isInstalled("strace"), "needs strace"))
    func `where only who writes may lock, or nobody, documents can be claimed too`() throws {
        try withDesk(.plain) { desk in
            try desk.write("x", to: "document")
            let program = try BuiltPrograms.shapeedit()
            func claimed(_ name: String, _ fault: String, _ command: String) -> String {
                """
                strace -f -qq -o /dev/null -e trace=flock -e inject=flock:error=\(fault) \
                    '\(program)' coordinate --write \(name) -- \(command)
                """
            }
            for fault in ["EBADF:when=1", "EBADF", "ENOLCK"] {
                for name in ["document", "none"] { try desk.shell(claimed(name, fault, "true")) }
            }
            // What is opened for writing then is locked.
            let second = "coordinate --purpose other --timeout 0 --write document -- true"
            let line = claimed("document", "EBADF:when=1", "'\(program)' \(second)")
            try desk.shell(line + "; test $? = 75")
        }
    }

    private func check(_ desk: Desk, _ name: String) throws {
        try desk.run("new", name)
        let folder = name.contains("/") ? String(name.dropLast("/s.shape".count)) : desk.folder
        let claimed = try desk.start([
            "coordinate", "--write", name, "--", "sh", "-c", "cd '\(folder)'\n" + Self.script,
        ])
        defer {
            claimed.kill(signal: SIGKILL, group: true)
            _ = claimed.wait()
        }
        waitUntil { access(folder + "/begun", F_OK) == 0 || !claimed.isRunning }
        let stranger = try desk.start(["set", name, "title=stranger"])
        usleep(500_000)
        #expect(stranger.isRunning)
        #expect(claimed.isRunning)
        close(open(folder + "/over", O_CREAT | O_WRONLY, 0o600))
        let (command, other) = (claimed.wait(), stranger.wait())
        #expect(command.status == 0, "\(command)")
        #expect(other.status == 0, "\(other)")
        #expect(try desk.get(name, "title") == "stranger")
        #expect(try desk.get(name, "Sphere.position") == "1,2,3")
        #expect(try desk.get(name, "Sphere.color") == "#112233")
    }
}
