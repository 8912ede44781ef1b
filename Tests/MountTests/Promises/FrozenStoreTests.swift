import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// A WebDAV server that does not answer any more but keeps its connections: nobody hangs with it.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct FrozenStoreTests {
    @Test func `how far a content is that comes is told to those who follow`() throws {
        try withFrozenServer { volume, server in
            let agent = try volume.agent()
            agent.shell("head -c 9000000 /dev/urandom > large; sha256sum large > sum")
            try volume.evictAll()
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            let told = "\(folder)/told"
            let follower = try RunningProgram(
                ["sh", "-c", "exec cat '\(volume.root.text)/.shapeedit/events' > '\(told)'"]
                    .map { Array($0.utf8) })
            func isTold(_ pattern: String) throws -> Bool {
                for _ in 0..<600 {
                    if try run(["grep", "-q", pattern, told]).status == 0 { return true }
                    usleep(100_000)
                }
                return false
            }
            // It follows when it is told of what happens.
            for number in 0..<600 {
                agent.store("begun\(number)", "")
                if try run(["grep", "-q", "begun", told]).status == 0 { break }
                usleep(100_000)
            }
            // Under way for as long as the server does not answer.
            try server.signal("STOP")
            let reader = try RunningProgram(
                ["tail", "-c", "1", "large"].map { Array($0.utf8) }, directory: volume.directory)
            #expect(try isTold(#""kind": "progress".*"path": "work/large".*"percent": "#))
            try server.signal("CONT")
            #expect(reader.wait(seconds: 60).status == 0)
            try volume.shapeedit("materialize", "@large")
            #expect(try isTold(#""kind": "materialized".*"path": "work/large""#))
            follower.kill(signal: SIGKILL)
            _ = follower.wait()
        }
    }

    @Test func `who waits for a content is named when it cannot be let go`() throws {
        try withFrozenServer(options: ["store_timeout=90"]) { volume, server in
            let agent = try volume.agent()
            agent.shell("echo small > small; head -c 9000000 /dev/urandom > large")
            try volume.evictAll()
            try server.signal("STOP")
            for name in ["small", "large"] {
                let reader = try RunningProgram(
                    ["cat", name].map { Array($0.utf8) }, directory: volume.directory)
                // It opens the large one at once, and waits for its bytes.
                let words = "it is open in cat (process \(reader.process))"
                var said = ""
                for _ in 0..<600 where !said.contains(words) {
                    said = try volume.outcome("evict", "@\(name)").errorText
                    usleep(50_000)
                }
                #expect(said.contains(words), "\(name): \(said)")
                reader.kill(signal: SIGKILL)
                _ = reader.wait()
            }
            try server.signal("CONT")
        }
    }

    @Test(.enabled(if: isInstalled("script"), "needs script"))
    func `who interrupts materialize is left with a clean line`() throws {
        try withFrozenServer { volume, server in
            let agent = try volume.agent()
            agent.shell("head -c 9000000 /dev/urandom > large")
            try volume.evictAll()
            try server.signal("STOP")
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            let program = try BuiltPrograms.shapeedit()
            _ = try run(
                [
                    "env", "TERM=xterm", "script", "-qec",
                    "timeout --foreground -s INT 3 '\(program)' materialize large",
                    "\(folder)/shown",
                ], directory: volume.directory)
            let shown = try run(["grep", "-v", "^Script", "\(folder)/shown"]).text
            #expect(shown.contains("% of "), "\(shown)")
            #expect(shown.contains("\r\u{1b}[K\u{1b}]9;4;0;\u{7}"), "\(shown)")
            try server.signal("CONT")
        }
    }

    @Test(.enabled(if: isInstalled("script"), "needs script"))
    func `who opens a document by a command sees on a terminal how far its content is`() throws {
        try withFrozenServer { volume, server in
            let agent = try volume.agent()
            let program = try BuiltPrograms.shapeedit()
            for name in ["plan.slide", "ball.shape", "list.list"] {
                agent.shell("'\(program)' new \(name)")
            }
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            for (words, name) in [
                (["show", "plan.slide"], "plan.slide"),
                (["set", "ball.shape", "background=red"], "ball.shape"),
                (["list", "add", "list.list", "Milk"], "list.list"),
            ] {
                unlink("\(folder)/shown")
                try volume.settle()
                try volume.shapeedit("evict", "@\(name)")
                try server.signal("STOP")
                let command = "'\(program)' \(words.joined(separator: " "))"
                let shows = try RunningProgram(
                    [
                        "env", "TERM=xterm", "script", "-qefc", command, "\(folder)/shown",
                    ].map { Array($0.utf8) }, directory: volume.directory)
                let place = "\u{1b}]9;4;1;0\u{7}"
                for _ in 0..<200 {
                    if try run(["grep", "-qF", place, "\(folder)/shown"]).status == 0 { break }
                    usleep(50_000)
                }
                try server.signal("CONT")
                #expect(shows.wait(seconds: 60).status == 0)
                let shown = try run(["grep", "-v", "^Script", "\(folder)/shown"]).text
                #expect(shown.contains("0% of "), "\(words): \(shown)")
                #expect(shown.contains(place), "\(words): \(shown)")
                let parts = shown.split(separator: "\r\u{1b}[K\u{1b}]9;4;0;\u{7}")
                // It is taken away before anything else is said.
                #expect(parts.count == 2, "\(words): \(shown)")
                #expect(!(parts.last ?? "").contains("% of "), "\(words): \(shown)")
            }
        }
    }

    @Test func `waiting for a frozen server ends with an error`() throws {
        try withFrozenServer(options: ["store_timeout=2"]) { volume, server in
            let agent = try volume.agent()
            agent.store("small", "content")
            try volume.evictAll()
            try server.signal("STOP")
            _ = agent.open("small", O_RDONLY, fails: ETIMEDOUT, EIO)
            #expect(
                try volume.run("getfattr", "-n", "user.shapeedit.error", "small").text
                    .contains("127.0.0.1"))
            #expect(try volume.state("small") == "promise")
            // Nothing is to be uploaded, which would tell of it.
            func isTold() throws -> Bool {
                try #require(volume.container).command("status", "--json").text
                    .contains("\"storeProblem\": ")
            }
            #expect(try isTold())
            try server.signal("CONT")
            #expect(agent.content("small") == "content")
            #expect(try !isTold())
        }
    }

    @Test func `nobody waits longer for a frozen server than once, however many there are`() throws
    {
        try withFrozenServer(options: ["store_timeout=6"]) { volume, server in
            let agent = try volume.agent()
            agent.shell(
                """
                for i in $(seq 20); do echo $i > s$i; done; head -c 5000000 /dev/urandom > other
                head -c 9000000 /dev/urandom > large; sha256sum large > ../sum
                """)
            try volume.evictAll()
            try volume.remount()
            try server.signal("STOP")
            // Those who read one page wait for each other in the kernel; it asks for each again.
            let script = """
                import errno, mmap, os, signal, time
                def child(work, *words):
                    process = os.fork()
                    if process: return process
                    try: work(*words)
                    except OSError as problem:
                        os._exit(0 if problem.errno in (errno.EIO, errno.ETIMEDOUT) else 1)
                    os._exit(2)
                def read(name, flags): os.pread(os.open(name, flags), 1, 4500000)
                def map():
                    file = os.open("large", os.O_RDONLY)
                    mmap.mmap(file, 0, prot=mmap.PROT_READ)[4500000]
                start = time.monotonic()
                told = [child(read, "large", os.O_RDONLY) for _ in range(4)]
                told.append(child(read, "other", os.O_RDWR))
                told += [child(os.open, f"s{number}", os.O_RDONLY) for number in range(1, 21)]
                killed = child(map)
                for process in told: assert os.waitpid(process, 0)[1] == 0
                assert os.WTERMSIG(os.waitpid(killed, 0)[1]) == signal.SIGBUS
                took = time.monotonic() - start
                assert 5 < took < 11, took
                """
            let after = try volume.agent()
            after.store("../readers.py", ByteString(script))
            after.shell("python3 ../readers.py")
            for name in ["large", "other", "s20"] {
                let reason = try volume.run(
                    "getfattr", "--only-values", "-n", "user.shapeedit.error", name)
                #expect(reason.text.contains("127.0.0.1"), "\(name): \(reason)")
            }
            // Who opens it anew is not told of what was.
            try server.signal("CONT")
            after.shell("sha256sum large | cut -c1-64 > ../now; cut -c1-64 ../sum | cmp - ../now")
        }
    }

    @Test func `cancel ends the waiting of who writes`() throws {
        try withFrozenServer(options: ["store_timeout=300"]) { volume, server in
            let agent = try volume.agent()
            agent.shell("head -c 9000000 /dev/urandom > large; sha256sum large > ../sum")
            try volume.evictAll()
            try volume.remount()
            try server.signal("STOP")
            let writer = try RunningProgram(
                ["dd", "if=/dev/zero", "of=large", "bs=1", "count=1", "conv=notrunc"]
                    .map { Array($0.utf8) }, directory: volume.directory)
            try waitUntil { try volume.state("large") == "downloading" }
            // Again and again: it may not wait yet.
            for _ in 0..<300 where Container.isAlive(Int(writer.process)) {
                try volume.shapeedit("cancel", "@large")
                usleep(100_000)
            }
            let result = writer.wait(seconds: 10)
            #expect(result.status == 1, "\(result)")
            try server.signal("CONT")
            let after = try volume.agent()
            after.shell("sha256sum large | cut -c1-64 > ../now; cut -c1-64 ../sum | cmp - ../now")
        }
    }

    @Test func `cancel ends the waiting of all who read`() throws {
        try withFrozenServer(options: ["store_timeout=90"]) { volume, server in
            let agent = try volume.agent()
            agent.shell("head -c 9000000 /dev/urandom > large; sha256sum large > ../sum")
            try volume.evictAll()
            try volume.remount()
            try server.signal("STOP")
            let readers = try (0..<3).map { _ in
                try RunningProgram(
                    ["cat", "large"].map { Array($0.utf8) }, directory: volume.directory)
            }
            try waitUntil { try volume.state("large") == "downloading" }
            // Who begins to read after it has it come anew.
            waitUntil(seconds: 30) {
                readers.allSatisfy {
                    BlockedCall(of: Int($0.process)).map { $0.isOn("large") } ?? true
                }
            }
            usleep(300_000)
            try volume.shapeedit("cancel", "@large")
            // Before the server would have been given up.
            for reader in readers {
                let result = reader.wait(seconds: 30)
                #expect(result.status == 1, "\(result)")
            }
            try waitUntil { try volume.state("large") == "promise" }
            #expect(try volume.state("large") == "promise")
            let reason = try volume.run(
                "getfattr", "--only-values", "-n", "user.shapeedit.error", "large")
            #expect(reason.text == "cancelled")
            try server.signal("CONT")
            let after = try volume.agent()
            after.shell("sha256sum large | cut -c1-64 > ../now; cut -c1-64 ../sum | cmp - ../now")
        }
    }

    /// The kernel has the pages locked that are waited for, and the names are forgotten behind them.
    @Test func `who waits for a content keeps nobody from opening it through proc to write`() throws
    {
        try withFrozenServer(options: ["store_timeout=90"]) { volume, server in
            let agent = try volume.agent()
            agent.shell("head -c 9000000 /dev/urandom > large")
            try volume.evictAll()
            try server.signal("STOP")
            let version = agent.open("large", O_RDONLY)
            // Of the session that its writing open begins.
            let reader = try RunningProgram(
                ["sh", "-c", "exec head -c 1 0<>large"].map { Array($0.utf8) },
                directory: volume.directory)
            func isReading() -> Bool {
                BlockedCall(of: Int(reader.process))?.number == Int32(SYS_read)
            }
            waitUntil(seconds: 30) { isReading() }
            usleep(300_000)
            let writer = agent.open("/proc/self/fd/\(version.number)", O_WRONLY)
            agent.rename("large", "moved")
            #expect(isReading())
            try server.signal("CONT")
            #expect(reader.wait(seconds: 60).status == 0)
            for file in [writer, version] { agent.close(file) }
        }
    }

    @Test func `a status is told whole, however much is on its way`() throws {
        try withFrozenServer(options: ["store_timeout=90"]) { volume, server in
            let agent = try volume.agent()
            let name = String(repeating: "n", count: 240)
            let folder = Array(repeating: name, count: 10).joined(separator: "/")
            agent.shell(
                "mkdir -p \(folder); for i in $(seq 40); do echo $i > \(folder)/\(name)$i; done")
            try volume.evictAll()
            try server.signal("STOP")
            let readers = try (1...40).map {
                try RunningProgram(
                    ["cat", "\(folder)/\(name)\($0)"].map { Array($0.utf8) },
                    directory: volume.directory)
            }
            let container = try #require(volume.container)
            let file = "\(container.mountPoint)/.shapeedit/status.json"
            var size = 0
            waitUntil(seconds: 30) {
                size = (try? Probing.run(["cat", file]).output.count) ?? 0
                return size > 80_000
            }
            try #require(size > 80_000)
            #expect(try container.status().container == container.name)
            try volume.shapeedit("claims")
            try server.signal("CONT")
            for reader in readers { #expect(reader.wait(seconds: 60).status == 0) }
        }
    }

    @Test func `an unmount does not wait for a frozen server`() throws {
        try withFrozenServer { volume, server in
            let agent = try volume.agent()
            agent.store("small", "content")
            try volume.evictAll()
            agent.store("waits", "is not uploaded in this mount")
            try server.signal("STOP")
            agent.shell("timeout -s KILL 1 cat small; test $? = 137")
            agent.shell("sync waits")
            try volume.remount()
            #expect(try volume.agent().content("waits") == "is not uploaded in this mount")
            try server.signal("CONT")
            try volume.settle()
            #expect(try volume.state("waits") == "local")
        }
    }
}
