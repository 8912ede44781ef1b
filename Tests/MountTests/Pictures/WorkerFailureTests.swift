import Glibc
import Probing
import TestSupport
import Testing

/// Programs that draw badly, or not at all: the mount does not suffer.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct WorkerFailureTests {
    /// What a mount has to do at any time, however its workers are.
    private func work(_ desk: PictureDesk) {
        let agent = desk.agent
        for number in 0..<30 {
            let name = ByteString("\(number).slide")
            agent.store(name, PictureDesk.slide(number))
            #expect(agent.content(name) == PictureDesk.slide(number))
            let picture = desk.picture("\(number).slide")
            #expect(picture.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            agent.attribute(name, "user.shapeedit.thumbnail")
        }
        agent.rename("1.slide", "moved.slide")
        agent.unlink("2.slide")
        #expect(agent.names(".shapeedit/thumbnails/512").count == 29)
    }

    @Test func `without the program the mount works and says so`() throws {
        try withPictures(thumbnailer: "exit 1") { desk in
            unlink(desk.container.base + "/thumbnailer")
            work(desk)
            let status = try desk.container.command("status")
            #expect(status.text.contains("no pictures: "), "\(status)")
            #expect(desk.state("5.slide").hasPrefix("unavailable: "))
            let asked = try desk.container.command(
                "thumbnail", "\(desk.container.mountPoint)/5.slide", "-o", "-")
            #expect(asked.status == 69, "\(asked)")
            #expect(try desk.keptFiles().isEmpty)
        }
    }

    /// A worker that reads texts, and ends over one as if somebody had told it to.
    private static let endingReader = """
        exec python3 -c '
        import os, signal, struct

        def exact(count):
            data = b""
            while len(data) < count:
                part = os.read(0, count - len(data))
                if not part:
                    os._exit(0)
                data += part
            return data

        def say(message):
            os.write(0, struct.pack("<I", len(message)) + message)

        say(bytes([0, 0]))
        while True:
            message = exact(struct.unpack("<I", exact(4))[0])
            if b"poison" in message:
                os.kill(os.getpid(), signal.SIGTERM)
            say(bytes([3, 0]) + message[2:] if message[0] in (2, 3) else b"\\2no")
        '
        """

    @Test func `a document over which the worker is told to end keeps no other from being found`()
        throws
    {
        try withPictures(thumbnailer: Self.endingReader) { desk in
            desk.agent.store("bad.txt", "poison sheep")
            for number in 0..<100 { desk.agent.store("\(number).txt", "sheep \(number)") }
            let arguments = ["find", "--text", "sheep", desk.container.mountPoint]
            // Nobody who asks waits for the document itself.
            #expect(
                try waitUntil {
                    try desk.container.command(arguments).text.split(separator: "\n").count == 100
                })
            let result = try desk.container.command(arguments)
            #expect(result.errorText.contains("SIGTERM") || result.errorText.contains("signal 15"))
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a worker that never answers holds nobody up`(_ dataPath: DataPath) throws {
        var daemon = 0
        try withPictures(dataPath, thumbnailer: "echo $$ >> \"$0.started\"; exec sleep 1000") {
            desk in
            daemon = try #require(desk.container.daemon)
            work(desk)
            #expect(["pending"].contains(desk.state("5.slide")))
            // The mount can be taken away while workers hang, and takes them with it.
            desk.agent.end()
            try desk.container.unmount()
            desk.container.waitForEnd(of: daemon)
            let started = try PictureDesk.read(desk.container.base + "/thumbnailer.started")
            let workers = String(decoding: started, as: UTF8.self).split(separator: "\n")
                .compactMap { Int($0) }
            #expect(!workers.isEmpty)
            for worker in workers {
                // The end of the daemon ends them, a moment later.
                desk.container.waitForEnd(of: worker)
                #expect(!Container.isAlive(worker), "\(worker)")
            }
            // With the real program they are drawn after all.
            try desk.replaceThumbnailer(by: nil)
            try desk.mount()
        }
        #expect(!Container.isAlive(daemon))
    }

    @Test func `a worker that dies, or writes nonsense, costs placeholders`() throws {
        for line in ["exit 3", "kill -9 $$", "head -c 100000 /dev/urandom >&0", "cat <&0 >&0"] {
            try withPictures(thumbnailer: line) { desk in work(desk) }
        }
    }

    @Test func `where the worker is killed while it draws the picture follows by itself`() throws {
        // The first one is killed when it has the document.
        let line = """
            if mkdir "$0.begun" 2>/dev/null; then
                printf '\\2\\0\\0\\0\\0\\0' >&0
                head -c 8 <&0 > /dev/null
                kill -9 $$
            fi
            exec "$(dirname '\(try BuiltPrograms.shapeedit())')/shapeedit-thumbnailer" "$@"
            """
        try withPictures(thumbnailer: line) { desk in
            desk.agent.store("a.slide", PictureDesk.slide(1))
            waitUntil { desk.state("a.slide") == "ready" }
            #expect(desk.state("a.slide") == "ready")
            #expect(desk.count("picturesFailed") == 0)
        }
    }

    /// A worker that is killed the first two times when it is to draw the size of 1,024 pixels.
    private static let fallingShort = """
        exec python3 -c '
        import os, signal, socket, struct, subprocess, sys

        def exact(source, count):
            data = b""
            while len(data) < count:
                part = source.recv(count - len(data))
                if not part:
                    os._exit(0)
                data += part
            return data

        def message(source):
            return exact(source, struct.unpack("<I", exact(source, 4))[0])

        def send(target, message):
            target.sendall(struct.pack("<I", len(message)) + message)

        asker = socket.socket(fileno=os.dup(0))
        asker.setblocking(True)
        mine, its = socket.socketpair()
        subprocess.Popen([sys.argv[1], "--worker"], stdin=its)
        its.close()
        while True:
            send(asker, message(mine))
            asked = message(asker)
            if asked[0] == 0 and asked[2:4] == struct.pack("<H", 1024):
                for death in ("first", "second"):
                    if not os.path.exists(sys.argv[2] + death):
                        open(sys.argv[2] + death, "w").close()
                        os.kill(os.getpid(), signal.SIGKILL)
            send(mine, asked)
        ' "$(dirname "$PROGRAM")/shapeedit-thumbnailer" "$0."
        """

    @Test func `where it is killed twice over the largest picture that follows by itself, too`()
        throws
    {
        let program = "PROGRAM='\(try BuiltPrograms.shapeedit())'\n"
        try withPictures(thumbnailer: program + Self.fallingShort) { (desk) throws in
            desk.agent.store("a.slide", PictureDesk.slide(1))
            #expect(try waitUntil { try desk.entries().count == 4 })
            #expect(access(desk.container.base + "/thumbnailer.second", F_OK) == 0)
            #expect(desk.count("picturesFailed") == 0)
        }
    }

    @Test func `a document that cannot be drawn is tried once`() throws {
        try withPictures { desk in
            desk.agent.store("bad.slide", "{ no slide")
            #expect(desk.settle("bad.slide").hasPrefix("failed: "))
            let failed = desk.count("picturesFailed")
            for _ in 0..<20 { _ = desk.picture("bad.slide") }
            #expect(desk.count("picturesFailed") == failed)
            // The reason outlives the mount; a better version has a picture.
            desk.agent.store("bad.slide", PictureDesk.slide(1))
            #expect(desk.settle("bad.slide") == "ready")
        }
    }

    @Test func `a worker that stands still ends with a daemon that is killed`() throws {
        try withPictures(thumbnailer: HaltedWorkers.thumbnailer()) { desk in
            let workers = HaltedWorkers(desk)
            desk.agent.store("a.slide", PictureDesk.slide(0))
            #expect(desk.settle("a.slide") == "ready")
            try workers.stop()
            try desk.container.killDaemon()
            #expect(try waitUntil { try workers.haveEnded })
            try workers.goOn()
        }
    }

    @Test func `killed while drawing, the mount comes back with the right pictures`() throws {
        try withPictures(thumbnailer: "exec cat > /dev/null") { desk in
            for number in 0..<10 {
                desk.agent.store(ByteString("\(number).slide"), PictureDesk.slide(number))
            }
            #expect(desk.state("3.slide") == "pending")
            try desk.container.killDaemon()
            try desk.replaceThumbnailer(by: nil)
            try desk.mount()
            let agent = try Agent(in: desk.container.mountPoint)
            defer { agent.end() }
            for number in 0..<10 {
                let name = ByteString("\(number).slide")
                waitUntil { agent.attribute(name, "user.shapeedit.thumbnail.state") == "ready" }
                try #expect(
                    agent.content(desk.path("\(number).slide"))
                        == desk.reference(PictureDesk.slide(number), "slide"))
            }
        }
    }
}
