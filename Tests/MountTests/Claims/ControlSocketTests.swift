import Glibc
import Probing
import TestSupport
import Testing

/// The control socket from outside, by programs that were not made for it.
@Suite(.oneAtATime) struct ControlSocketTests {
    /// This file is Tests/MountTests/Claims/ControlSocketTests.swift.
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(4).joined(separator: "/")

    private static func socket(_ volume: Volume) throws -> String {
        let container = try #require(volume.container)
        return "\(container.base)/run/shapeedit/\(container.name).varlink"
    }

    /// The beginning of a program in Python that calls methods of the socket, its first argument.
    private static let client = """
        import json, socket, subprocess, sys, time
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        def call(method, **parameters):
            method = "org.shapeedit.Control." + method
            message = json.dumps({"method": method, "parameters": parameters})
            connection.sendall(message.encode() + b"\\0")
            answer = b""
            while not answer.endswith(b"\\0"):
                piece = connection.recv(1 << 20)
                assert piece, "closed"
                answer += piece
            return json.loads(answer[:-1])["parameters"]
        """

    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: [
            "describe", "claims", "circle", "parameters", "prepare", "lease", "changes", "moved",
            "writing",
            "queries", "many", "events", "progress", "uploads", "registering",
        ])
    func `a Varlink client of another make is served`(_ scenario: String) throws {
        let store = scenario == "uploads" ? "folder" : nil
        try withVolume(.passthrough, store: store) { volume in
            let result = try volume.run(
                "\(Self.root)/Scripts/servers/pypi", "varlink",
                "\(Self.root)/Tests/MountTests/Claims/control.py", scenario,
                try Self.socket(volume), volume.directory,
                "\(Self.root)/Sources/Control/Interface/org.shapeedit.Control.varlink",
                volume.container?.storeFolder ?? "", seconds: 400)
            if result.status == 75, getenv("SHAPEEDIT_REQUIRE_SERVERS") == nil {
                try Test.cancel("no Varlink client: \(result)")
            }
            #expect(result.text == "passed\n", "\(result)")
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `hostile clients stall neither the mount nor others`() throws {
        try withVolume(.passthrough) { volume in
            let result = try volume.run(
                "python3", "\(Self.root)/Tests/MountTests/Claims/hostile.py",
                try Self.socket(volume), volume.directory, seconds: 400)
            #expect(result.text == "passed\n", "\(result)")
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `claims are listed however long the list is`() throws {
        let lines = """
            \(Self.client)
            rest = "/".join(["x" * 200] * 19)
            for claim in range(5):
                call("Claim", targets=[
                    {"path": f"{claim}-{target}/{rest}", "access": "read"} for target in range(256)])
            listed = subprocess.run([sys.argv[2], "claims", "."], capture_output=True, text=True)
            print(listed.stdout.count(" has read on "), listed.stderr)
            # Who takes one reply gets the first, and is told that there are more.
            first = call("Claims")
            print(len(first["claims"]), first["complete"])
            root = [{"path": "", "access": "writeDeleting"}]
            print(len(call("Claim", targets=root, timeoutMilliseconds=0)["holders"]))
            connection.sendall(b'{"method": "org.shapeedit.Control.Claims", "more": true}\\0')
            answer = b""
            while not answer.endswith(b"\\0") or b'"complete": true' not in answer[-100:]:
                part = connection.recv(1 << 20)
                assert part, "the connection has ended"
                answer += part
            parts = [json.loads(part)["parameters"] for part in answer[:-1].split(b"\\0")]
            print(sum(len(part["claims"]) for part in parts), max(map(len, answer.split(b"\\0"))) < 2 << 20)
            """
        try withVolume(.passthrough) { volume in
            let result = try volume.run(
                "python3", "-c", lines, try Self.socket(volume), try BuiltPrograms.shapeedit())
            #expect(
                result.text == "5 \n1 False\n1\n5 True\n", "\(result.status) \(result.errors)")
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `claims and presenters have so much room for their paths and no more`() throws {
        let lines = """
            import json, socket, sys
            def ask(method, more=False, **parameters):
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(sys.argv[1])
                call = {"method": "org.shapeedit.Control." + method, "parameters": parameters}
                connection.sendall(json.dumps(dict(call, more=more)).encode() + b"\\0")
                answer = b""
                while not answer.endswith(b"\\0"):
                    piece = connection.recv(1 << 20)
                    assert piece, "closed"
                    answer += piece
                return connection, json.loads(answer[:-1]).get("error", "").split(".")[-1]
            def path(number):
                return f"{number}/" + "/".join(["ab"] * 100_000)
            def claim(number, **more):
                return ask("Claim", targets=[{"path": path(number), "access": "read"}], **more)
            held = [claim(0), claim(1), ask("Present", more=True, path=path(2))]
            assert [error for _, error in held] == ["", "", ""], held
            assert claim(3)[1] == "TooMany"
            assert ask("Present", more=True, path=path(3))[1] == "TooMany"
            # Others have room, and these as soon as one has ended.
            short = [{"path": "a", "access": "write"}]
            assert ask("Claim", targets=short)[1] == ""
            assert ask("Claim", targets=short, purpose="x" * 1025)[1] == "InvalidParameter"
            for number in range(3):
                held[number][0].close()
                for attempt in range(100):
                    again = claim(number + 3)
                    if again[1] == "": break
                assert again[1] == "", number
                held.append(again)
            print("passed")
            """
        try withVolume(.passthrough) { volume in
            let result = try volume.run("python3", "-c", lines, try Self.socket(volume))
            #expect(result.text == "passed\n", "\(result)")
        }
    }

    /// Runs a Python program that claims an item while others run.
    private func runClaiming(
        _ claiming: String, on name: String, beside others: [String], _ volume: Volume
    ) throws -> ProgramResult {
        let container = try #require(volume.container)
        let path = "\(volume.directory)/\(name)".dropFirst(container.mountPoint.utf8.count + 1)
        let programs = try others.map { try volume.start(["python3", "-c", $0]) }
        defer {
            for program in programs {
                program.kill(signal: SIGKILL)
                _ = program.wait(seconds: 10)
            }
        }
        return try volume.run("python3", "-c", claiming, try Self.socket(volume), String(path))
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `nothing that was renamed before a claim shows under it`() throws {
        let saving = """
            import os
            count = 0
            while True:
                count += 1
                with open(f"{os.getpid()}.tmp", "w") as file:
                    file.write(f"{os.getpid()} {count}")
                os.rename(f"{os.getpid()}.tmp", "file")
            """
        let claiming = """
            \(Self.client)
            def content():
                with open("file") as file:
                    return file.read()
            others = 0
            for count in range(150):
                claim = call("Claim", targets=[{"path": sys.argv[2], "access": "write"}])["claim"]
                first = content()
                time.sleep(0.005)
                others += content() != first
                call("Release", claim=claim)
                time.sleep(0.003)
            print(others)
            """
        try withVolume(.passthrough) { volume in
            try volume.agent().store("file", "x")
            let result = try runClaiming(
                claiming, on: "file", beside: [saving, saving, saving], volume)
            // On a busy machine one may take longer than a claim waits for it: there were ten or twenty.
            let others = Int(result.text.dropLast()) ?? 150
            #expect(others <= 5, "\(result)")
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `no name that was asked for before a claim comes or goes under it`() throws {
        let changing = """
            import os
            open("own", "w").close()
            while True:
                try:
                    os.link("own", "file")
                    os.unlink("file")
                    os.mkdir("file")
                    os.rmdir("file")
                except OSError:
                    pass
            """
        let claiming = """
            \(Self.client)
            import os
            def kind():
                return os.path.isfile("file") + 2 * os.path.isdir("file")
            others = 0
            for count in range(600):
                claim = call("Claim", targets=[{"path": sys.argv[2], "access": "write"}])["claim"]
                first = kind()
                time.sleep(0.0005)
                others += kind() != first
                call("Release", claim=claim)
                time.sleep(0.0005)
            print(others)
            """
        try withVolume(.passthrough) { volume in
            let result = try runClaiming(claiming, on: "file", beside: [changing], volume)
            // On a busy machine the kernel may take longer than a claim waits for it: there were two to five.
            let others = Int(result.text.dropLast()) ?? 600
            #expect(others <= 1, "\(result)")
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `a client for whom there is no descriptor waits, and the socket's thread with it`()
        throws
    {
        let lines = """
            import os, resource, socket, sys, time
            daemon, path = int(sys.argv[1]), sys.argv[2]
            def spent():
                words = open(f"/proc/{daemon}/stat").read().rsplit(")", 1)[1].split()
                return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
            usual = resource.prlimit(daemon, resource.RLIMIT_NOFILE)
            resource.prlimit(daemon, resource.RLIMIT_NOFILE, (8, usual[1]))
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            client.sendall(b'{"method": "org.varlink.service.GetInfo"}\\0')
            before = spent()
            time.sleep(2)
            assert spent() - before < 0.3, spent() - before
            resource.prlimit(daemon, resource.RLIMIT_NOFILE, usual)
            client.settimeout(60)
            assert b"ShapeEdit" in client.recv(65536)
            print("passed")
            """
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let daemon = try #require(container.daemon)
            let result = try volume.run(
                "python3", "-c", lines, "\(daemon)", try Self.socket(volume))
            #expect(result.text == "passed\n", "\(result)")
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `who finds too many clients at the socket is told so, and may try again`() throws {
        try withVolume(.passthrough) { volume in
            let lines = """
                import resource, socket, subprocess, sys
                most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
                clients = [socket.socket(socket.AF_UNIX) for _ in range(min(1024, most // 4))]
                for client in clients:
                    client.connect(sys.argv[2])
                for words in [
                    ["claims"], ["claims", "."], ["find", "--watch"],
                    ["coordinate", "--read", ".", "--", "true"],
                ]:
                    asked = subprocess.run(
                        [sys.argv[1]] + words, capture_output=True, text=True, timeout=60)
                    assert asked.returncode == 75 and asked.stdout == "", (words, asked)
                    assert f"has {len(clients)} clients" in asked.stderr, (words, asked)
                print("passed")
                """
            let binary = try BuiltPrograms.shapeedit()
            let result = try volume.run("python3", "-c", lines, binary, try Self.socket(volume))
            #expect(result.text == "passed\n", "\(result)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `only the user who mounted, and root, reach the socket`() throws {
        try withVolume(.passthrough) { volume in
            let socket = try Self.socket(volume)
            var status = stat()
            #expect(lstat(socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let folder = String(socket.dropLast("/test.varlink".count))
            #expect(lstat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
            // Even where the file lets everybody in, others are not served.
            for path in [socket, folder, "\(folder)/.."] { chmod(path, 0o777) }
            let line = """
                import socket, sys
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(sys.argv[1])
                try:
                    connection.sendall(b'{"method": "org.varlink.service.GetInfo"}\\0')
                    sys.exit(0 if connection.recv(1) else 3)
                except OSError:
                    sys.exit(3)
                """
            for (user, expected) in [("0", 0), ("\(nobody)", 3)] {
                let result = try run([
                    "setpriv", "--reuid=\(user)", "--clear-groups", "/usr/bin/python3", "-c", line,
                    socket,
                ])
                #expect(result.status == expected, "\(result)")
            }
        }
    }

    @Test func `a socket that is left behind is replaced, one that is served is not`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let socket = try Self.socket(volume)
            try container.killDaemon()
            var status = stat()
            #expect(lstat(socket, &status) == 0)
            try volume.remountAfterCrash()
            #expect(try volume.run(try BuiltPrograms.shapeedit(), "claims", ".").status == 0)
            try volume.remount()
            // Away with the mount, away with its socket.
            try container.unmount()
            #expect(lstat(socket, &status) != 0)
            try container.mount()
        }
    }

    /// So it is when a user logs out and in again: the mount stays, the folder goes and comes back empty.
    @Test func `the socket comes back where its folder was removed`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let socket = try Self.socket(volume)
            let agent = try volume.agent()
            agent.store("file", "x")
            let folder = "\(container.base)/run"
            TemporaryDirectory.remove(folder)
            // Longer than it takes to look, so that the first look is in vain.
            sleep(3)
            mkdir(folder, 0o700)
            for _ in 0..<200 where access(socket, F_OK) != 0 { usleep(100_000) }
            let binary = try BuiltPrograms.shapeedit()
            let held = try volume.run(
                binary, "coordinate", "--write", "file", "--", "echo", "held")
            #expect(held.status == 0 && held.text == "held\n", "\(held)")
            var status = stat()
            #expect(lstat(socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
    }

    @Test func `without a place for the socket the mount does without`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            try container.unmount()
            // A file is where the folder should be.
            let folder = "\(container.base)/run/shapeedit"
            TemporaryDirectory.remove(folder)
            close(open(folder, O_CREAT | O_WRONLY, 0o600))
            try container.mount()
            let agent = try volume.agent()
            agent.store("file", "x")
            let binary = try BuiltPrograms.shapeedit()
            let asked = try volume.run(binary, "claims", ".")
            #expect(asked.status == 69 && asked.errorText.contains("no control socket"))
            #expect(try volume.run(binary, "claims").status == 0)
            volume.endAgents()
            try container.unmount()
            unlink(folder)
            try container.mount()
        }
    }
}
