import Glibc
import Probing
import TestSupport
import Testing

/// Servers that fail in every way at every step: no byte that was written is lost, no wrong one is
/// read, nothing hangs, and all goes on by itself when the server does.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct ServerFaultTests {
    /// What happens to an answer.
    private static let answerFaults = [
        "status=403", "status=404", "status=429", "status=500", "status=503", "reset", "hang",
        "truncate", "short", "long", "wrong",
    ]

    private func withServer(
        _ kind: FaultyServer.Kind, _ name: String, _ body: (Volume, FaultyServer) throws -> Void
    ) throws {
        let server = try FaultyServer(kind, name: "\(name)-\(kind)")
        defer { server.stop() }
        try withVolume(.passthrough, store: server.address, options: ["store_timeout=2"]) {
            volume in
            try body(volume, server)
            try server.plan()
        }
    }

    /// Reads 1000 bytes of files at offsets, all at once, as `name:offset`; what came of each: the
    /// bytes' digest or the error's name.
    private func look(_ volume: Volume, _ places: [String]) throws -> [String] {
        let script = """
            import errno, hashlib, os, sys
            from concurrent.futures import ThreadPoolExecutor
            def look(place):
                name, offset = place.split(":")
                try:
                    file = os.open(name, os.O_RDONLY)
                    try:
                        # Without what the kernel still has of it.
                        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                        return hashlib.sha256(os.pread(file, 1000, int(offset))).hexdigest()
                    finally: os.close(file)
                except OSError as problem: return errno.errorcode[problem.errno]
            with ThreadPoolExecutor(8) as pool:
                print(*pool.map(look, sys.argv[1:]), sep="\\n")
            """
        let result = try volume.run(
            "sh", "-c", "exec python3 - \(places.joined(separator: " ")) << 'END'\n\(script)\nEND")
        #expect(result.status == 0, "\(result)")
        return result.text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: FaultyServer.Kind.interfaces)
    func `a download that goes wrong in any way gives an error or the right bytes`(
        _ kind: FaultyServer.Kind
    ) throws {
        try withServer(kind, "down") { volume, server in
            let agent = try volume.agent()
            agent.shell("head -c 3000 /dev/urandom > small; head -c 6000000 /dev/urandom > large")
            agent.shell("sha256sum small large > ../sums")
            let places = ["small:0", "large:0", "large:5000000"]
            let right = try look(volume, places)
            try volume.evictAll()
            // So that the kernel has nothing of them either.
            try volume.remount()
            // What is done with an answer is the same for both.
            let faults =
                kind == .webDAV
                ? Self.answerFaults : ["status=403", "status=503", "reset", "truncate", "wrong"]
            for fault in faults {
                try server.plan("GET \(fault)", "HEAD \(fault)")
                for (place, pair) in zip(places, zip(try look(volume, places), right)) {
                    let isWell = ["EIO", "ETIMEDOUT", pair.1].contains(pair.0)
                    #expect(isWell, "\(fault), \(place): \(pair.0)")
                    let name = String(place.prefix { $0 != ":" })
                    // What ends early goes on where it ended, as long as something comes; an answer of
                    // another length can be seen only if it is the whole content's.
                    if fault == "truncate" || name == "large" && ["short", "long"].contains(fault) {
                        continue
                    }
                    #expect(pair.0 != pair.1, "\(fault), \(place)")
                    let reason = try volume.run(
                        "getfattr", "--only-values", "-n", "user.shapeedit.error", name)
                    #expect(reason.text.contains("127.0.0.1"), "\(fault), \(name): \(reason)")
                }
                #expect(try server.requests().keys.contains("GET \(fault)"))
                try server.plan()
                let after = try volume.run("sha256sum", "--quiet", "-c", "../sums")
                #expect(after.status == 0, "after \(fault): \(after)")
                try volume.shapeedit("evict", "@small", "@large")
            }
            try server.plan("GET etag")
            #expect(try look(volume, places) == right)
            try volume.shapeedit("evict", "@small", "@large")
            // However slow: what has come is right, and who does not want to wait can go.
            try server.plan("GET slow")
            #expect(try look(volume, ["small:0"]) == [right[0]])
            let impatient = try volume.run(
                "sh", "-c", "dd if=large iflag=nocache count=0; exec timeout -s KILL 1 cat large")
            #expect(impatient.status != 0)
        }
    }

    @Test(arguments: FaultyServer.Kind.interfaces)
    func `an upload that goes wrong at any step in any way is made good`(
        _ kind: FaultyServer.Kind
    ) throws {
        try withServer(kind, "up") { volume, server in
            // 429 and 500 are to the uploads what 503 is.
            let faults = [
                "status=403", "status=404", "status=503", "reset", "hang", "cut", "lost",
                "truncate",
                "short", "long", "etag",
            ]
            // The others have no body that is stored.
            let putFaults = faults + ["wrong-sent"]
            let agent = try volume.agent()
            for method in kind == .webDAV ? ["MKCOL", "PUT", "MOVE", "HEAD"] : ["PUT", "HEAD"] {
                let planned = method == "PUT" ? putFaults : faults
                try server.plan(
                    planned.map { "\(method) \($0) 1\n\(method) none 1" }.joined(separator: "\n"))
                agent.shell(
                    "for i in $(seq 26); do head -c $((i * 1000)) /dev/urandom > \(method)$i; done")
                agent.shell("sha256sum * > ../sums")
                try volume.settle()
                agent.shell("sha256sum --quiet -c ../sums")
                let requests = try server.requests()
                for fault in planned {
                    #expect(requests["\(method) \(fault)"] == 1, "\(method) \(fault): \(requests)")
                }
            }
            try server.plan("PUT slow 2")
            agent.shell("head -c 3000 /dev/urandom > slow; sha256sum slow >> ../sums")
            try volume.settle()
            try server.plan()
            try volume.shapeedit("evict", "@.")
            try volume.remount()
            let after = try volume.run("sha256sum", "--quiet", "-c", "../sums")
            #expect(after.status == 0, "\(after)")
        }
    }

    @Test(arguments: FaultyServer.Kind.interfaces)
    func `bytes that change on their way to the store are sent again`(
        _ kind: FaultyServer.Kind
    ) throws {
        try withServer(kind, "wrong") { volume, server in
            let agent = try volume.agent()
            try server.plan("PUT wrong-sent 2")
            agent.shell("head -c 3000 /dev/urandom > small; head -c 6000000 /dev/urandom > large")
            agent.shell("sha256sum small large > ../sums")
            try volume.settle()
            #expect(try server.requests()["PUT wrong-sent"] == 2)
            #expect(try volume.fetchedBytes() == 0)
            try volume.shapeedit("evict", "@small", "@large")
            let after = try volume.run("sha256sum", "--quiet", "-c", "../sums")
            #expect(after.status == 0, "\(after)")
        }
    }

    @Test func `a connection that ends while an upload is got back costs no other upload`() throws {
        try withServer(.webDAV, "back") { volume, server in
            let agent = try volume.agent()
            // The store is asked whose it is first.
            agent.shell("echo first > first")
            try volume.settle()
            try server.plan("GET truncate 3")
            let sum = agent.shell("head -c 6000000 /dev/urandom > large; sha256sum large")
            try volume.settle()
            let requests = try server.requests()
            #expect(requests["GET truncate"] == 3 && requests["PUT none"] == 1, "\(requests)")
            try volume.shapeedit("evict", "@large")
            #expect(agent.shell("sha256sum large") == sum)
        }
    }

    @Test(arguments: [FaultyServer.Kind.s3, .ceph])
    func `an upload in parts that goes wrong at any step goes on`(
        _ kind: FaultyServer.Kind
    ) throws {
        try withServer(kind, "parts") { volume, server in
            let agent = try volume.agent()
            try server.plan(
                "GET status=500 1", "GET reset 1", "POST lost 1", "POST status=403 1", "PUT etag 1",
                "PUT reset 1", "PUT wrong-sent 1", "PUT lost 1", "POST truncate 1", "HEAD short 1")
            agent.shell("head -c 18000000 /dev/urandom > large; sha256sum large > ../sums")
            try volume.settle()
            try volume.shapeedit("evict", "@large")
            try server.plan()
            let after = try volume.run("sha256sum", "--quiet", "-c", "../sums")
            #expect(after.status == 0, "\(after)")
        }
    }

    @Test(arguments: FaultyServer.Kind.allCases)
    func `nothing is lost while anything goes wrong at random`(_ kind: FaultyServer.Kind) throws {
        let seed = Seed.next("nothing is lost while anything goes wrong at random")
        try withServer(kind, "random") { volume, server in
            let faults = Self.answerFaults + ["cut", "lost", "etag", "none"]
            try server.plan("random \(seed % 1_000_000) 40 \(faults.joined(separator: " "))")
            // Knows what each document has to hold.
            let script = """
                import errno, os, random, sys, time
                source, end, documents = random.Random(\(seed)), time.monotonic() + 9, {}
                reads = 0
                while time.monotonic() < end:
                    name = f"d{source.randrange(12)}"
                    what = source.random()
                    if what < 0.3 or name not in documents:
                        bytes = source.randbytes(source.choice([100, 30000, 300000]))
                        with open(name, "wb") as file: file.write(bytes)
                        os.sync() if what < 0.1 else None
                        documents[name] = bytes
                    elif what < 0.6:
                        try: os.setxattr(name, "user.shapeedit.state", b"promise")
                        except OSError as problem: assert problem.errno == errno.EBUSY, problem
                    else:
                        try:
                            with open(name, "rb") as file: assert file.read() == documents[name], name
                            reads += 1
                        except OSError as problem:
                            assert problem.errno in (errno.EIO, errno.ETIMEDOUT), problem
                    time.sleep(0.02)
                for name, bytes in documents.items():
                    open("../expected/" + name, "wb").write(bytes)
                print(reads, "reads")
                """
            let result = try volume.run(
                "sh", "-c", "mkdir ../expected; exec python3 - << 'END'\n\(script)\nEND")
            #expect(result.status == 0 && result.text.contains("reads"), "\(result)")
            try server.plan()
            try volume.settle()
            try volume.shapeedit("evict", "@.")
            try volume.remount()
            let after = try volume.run("diff", "-r", ".", "../expected")
            #expect(after.status == 0, "\(after)")
        }
    }

    @Test func `a promise that a listing does not have yet is not called lost`() throws {
        try withServer(.s3, "lag") { volume, server in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo 1 > away; echo 2 > here")
            try volume.settle()
            try volume.shapeedit("evict", "@away")
            agent.end()
            try container.unmount()
            try server.plan("GET unlisted")
            let check = try container.command("container", "check", container.name)
            #expect(check.status == 0, "\(check)")
            #expect(try server.requests()["GET unlisted"] != nil)
            try container.mount()
        }
    }
}
