import Glibc
import Probing
import TestSupport
import Testing

/// How far commands say they are that take long, and how far they come.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct ProgressTests {
    /// What a command shows on a terminal.
    ///
    /// - Parameter end: it is interrupted as soon as this has been shown.
    private func shown(_ words: String, in container: Container, upTo end: String? = nil) throws
        -> String
    {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let program = "'\(try BuiltPrograms.shapeedit())'"
        let script = try RunningProgram(
            [
                "env", "TERM=xterm", "script", "-qefc",
                "echo $$ > \(folder)/process; exec \(program) \(words)", "\(folder)/shown",
            ].map { Array($0.utf8) }, environment: container.environment)
        func text() throws -> String {
            try run(["grep", "-v", "^Script", "\(folder)/shown"]).text
        }
        if let end {
            for _ in 0..<600 where try !text().contains(end) { usleep(50_000) }
            _ = try run(["sh", "-c", "kill -INT $(cat \(folder)/process)"])
        }
        let result = script.wait(seconds: 60)
        #expect(end != nil || result.status == 0, "\(result)")
        return try text()
    }

    private static let cleared = "\r\u{1b}[K\u{1b}]9;4;0;\u{7}"

    @Test(.enabled(if: isInstalled("script"), "needs script"))
    func `move-store says how far it is`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("for i in 1 2 3; do head -c 50000 /dev/urandom > $i; done")
            try volume.evictAll()
            agent.end()
            try container.unmount()
            let other = "folder:\(container.base)/home/other"
            let words = "container move-store \(container.name)"
            let onTerminal = try shown("\(words) \(other)", in: container)
            #expect(onTerminal.contains("100% of 146.5 KiB, 3 of 3 contents"), "\(onTerminal)")
            #expect(onTerminal.contains("\u{1b}]9;4;1;100\u{7}"), "\(onTerminal)")
            #expect(onTerminal.contains(Self.cleared), "\(onTerminal)")
            let result = try container.command(
                "container", "move-store", container.name, "none", "--json")
            #expect(
                result.text
                    == "{\"name\": \"\(container.name)\", \"store\": null, \"lost\": []}\n",
                "\(result)")
            let last =
                "\"done\": 3, \"bytes\": 150000, \"doneBytes\": 150000, \"percent\": 100}\n"
            #expect(result.errorText.hasSuffix("{\"contents\": 3, \(last)"), "\(result)")
            try container.mount()
        }
    }

    @Test func `of many it is said how far they are while they are asked for`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("mkdir d; for i in 1 2 3; do head -c 50000 /dev/urandom > d/$i; done")
            agent.end()
            try volume.evictAll()
            let result = try volume.shapeedit("materialize", "@d", "--json")
            let lines = result.errorText.split(separator: "\n")
            #expect(lines.first?.hasPrefix("{\"documents\": 1, \"done\": 0,") == true, "\(result)")
            #expect(lines.last?.hasPrefix("{\"documents\": 3, \"done\": 3,") == true, "\(result)")
        }
    }

    @Test func `evict says how many are gone, of those that can go`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("mkdir d; for i in 1 2 3 4; do head -c 50000 /dev/urandom > d/$i; done")
            try volume.settle()
            let open = agent.open("d/3", O_RDONLY)
            let result = try volume.shapeedit("evict", "@d", "--json", fails: 75)
            let lines = result.errorText.split(separator: "\n")
            #expect(lines.first?.hasPrefix("{\"documents\": 4, \"done\": 1,") == true, "\(result)")
            let last = "{\"documents\": 3, \"done\": 3, \"bytes\": 150000, \"doneBytes\": 150000,"
            #expect(lines.last?.hasPrefix(last) == true, "\(result)")
            agent.close(open)
        }
    }

    @Test(.enabled(if: isInstalled("curl"), "needs curl"))
    func `what is cancelled is nothing more to wait for, and no figure goes back`() throws {
        let server = try FaultyServer(.webDAV, name: "progress")
        defer { server.stop() }
        try server.request("MKCOL", "/")
        try withVolume(.passthrough, store: server.address) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("mkdir d; head -c 60000 /dev/urandom > d/slow; echo text > d/text")
            agent.end()
            try volume.evictAll()
            // 1 KiB/s.
            try server.plan("GET slow")
            func bring(_ name: String) throws -> RunningProgram {
                try RunningProgram(
                    [
                        try BuiltPrograms.shapeedit(), "materialize", "\(volume.directory)/\(name)",
                        "--json",
                    ].map { Array($0.utf8) }, environment: container.environment)
            }
            let command = try bring("d")
            func hasCome(_ name: String, _ percent: Int) throws -> Bool {
                let attribute = "user.shapeedit.progress"
                let told = try volume.run("getfattr", "--only-values", "-n", attribute, name)
                return Int(told.text) ?? 0 >= percent
            }
            for _ in 0..<600 where try !hasCome("d/slow", 10) { usleep(50_000) }
            for _ in 0..<600 where try volume.state("d/text") != "local" { usleep(50_000) }
            usleep(500_000)
            try volume.shapeedit("cancel", "@d/slow")
            let result = command.wait(seconds: 60)
            #expect(result.text.contains("cancelled"), "\(result)")
            let lines = result.errorText.split(separator: "\n").filter { $0.contains("doneBytes") }
            func number(_ name: String, _ line: Substring) -> Int {
                let rest = line.split(separator: "\"\(name)\": ").last ?? ""
                return Int(rest.prefix { $0.isNumber }) ?? -1
            }
            for name in ["done", "doneBytes", "percent"] {
                let numbers = lines.map { number(name, $0) }
                #expect(numbers == numbers.sorted(), "\(name): \(result)")
            }
            let last = lines.last ?? ""
            #expect(last.contains("\"documents\": 1, \"done\": 1,"), "\(result)")
            #expect(last.contains("\"percent\": 100"), "\(result)")
            #expect(number("doneBytes", last) == number("bytes", last), "\(result)")
            // Where none is left to come, that is not all of them.
            let vain = try bring("d/slow")
            try waitUntil { try volume.state("d/slow") == "downloading" }
            try volume.shapeedit("cancel", "@d/slow")
            let none = vain.wait(seconds: 60)
            #expect(none.status == 69 && !none.errorText.contains("\"documents\": 0"), "\(none)")
            try server.plan()
        }
    }

    @Test(.enabled(if: isInstalled("curl"), "needs curl"))
    func `how far a content is is told in percent and in bytes`() throws {
        let server = try FaultyServer(.webDAV, name: "bytes")
        defer { server.stop() }
        try server.request("MKCOL", "/")
        try withVolume(.passthrough, store: server.address) { volume in
            let agent = try volume.agent()
            agent.shell("head -c 60000 /dev/urandom > slow")
            func bytes() throws -> Int? {
                let name = "user.shapeedit.progress.bytes"
                return Int(try volume.run("getfattr", "--only-values", "-n", name, "slow").text)
            }
            #expect(try bytes() == 60_000)
            try volume.evictAll()
            #expect(try bytes() == 0)
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            let told = "\(folder)/told"
            let follower = try RunningProgram(
                ["sh", "-c", "exec cat '\(volume.root.text)/.shapeedit/events' > '\(told)'"]
                    .map { Array($0.utf8) })
            // 1 KiB/s.
            try server.plan("GET slow")
            let reader = try RunningProgram(
                ["cat", "slow"].map { Array($0.utf8) }, directory: volume.directory)
            var here = 0
            for _ in 0..<600 where here == 0 {
                usleep(50_000)
                here = try bytes() ?? 0
            }
            #expect((1..<60_000).contains(here))
            let line = #""bytes": 60000, "doneBytes": [1-9][0-9]*, "percent": [0-9]"#
            var isTold = false
            for _ in 0..<200 where !isTold {
                isTold = try run(["grep", "-q", line, told]).status == 0
                if !isTold { usleep(50_000) }
            }
            let events = try run(["cat", told]).text
            #expect(isTold, "\(events)")
            for program in [reader, follower] {
                program.kill(signal: SIGKILL)
                _ = program.wait()
            }
            try server.plan()
        }
    }

    @Test func `what cannot be looked at does not keep commands from the others`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            try volume.agent().shell("echo a > a; mkdir d; echo b > d/b; mkfifo pipe")
            try volume.settle()
            let evicted = try volume.shapeedit("evict", "@nosuch", "@a", "@pipe", "@d", fails: 66)
            for name in ["nosuch", "pipe"] {
                #expect(evicted.errorText.contains("/\(name): "), "\(evicted)")
            }
            #expect(try volume.state("a") == "promise" && volume.state("d/b") == "promise")
            let come = try volume.shapeedit("materialize", "@nosuch", "@d", "--json", fails: 66)
            #expect(come.text.contains("/nosuch\"") && come.text.contains("/d/b\""), "\(come)")
            #expect(try volume.state("d/b") == "local")
        }
    }

    @Test func `what is in .shapeedit is refused once, by the name it was given`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            try volume.agent().shell("echo a > a")
            for command in ["evict", "materialize", "cancel", "pin", "unpin"] {
                for name in [".shapeedit", ".shapeedit/versions", ".shapeedit/status.json"] {
                    let path = "\(volume.root.text)/\(name)"
                    let result = try volume.shapeedit(command, path, fails: EX_NOINPUT)
                    let words = "it is neither a document nor a folder of documents"
                    #expect(result.errorText == "shapeedit: \(path): \(words)\n")
                }
            }
        }
    }

    @Test(
        .enabled(if: isInstalled("script") && isInstalled("curl"), "needs script and curl"))
    func `who interrupts an import is left with a clean line`() throws {
        let server = try FaultyServer(.webDAV, name: "interrupted")
        defer { server.stop() }
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            try server.request("MKCOL", "/")
            for name in ["a", "b", "c"] { try server.request("MKCOL", "/\(name)/") }
            // Some seconds long.
            try server.plan("PROPFIND slow")
            let words = "import --promise '\(server.address)' '\(volume.directory)/in'"
            let listed = " listed\u{1b}]9;4;3;\u{7}"
            let onTerminal = try shown(words, in: container, upTo: listed)
            #expect(onTerminal.contains(listed), "\(onTerminal)")
            #expect(onTerminal.contains(Self.cleared), "\(onTerminal)")
        }
    }
}
