import Glibc
import Probing
import TestSupport
import Testing

/// Publish is at the last close, whole, and close() means it.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct PublishTests {
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `after close every process sees the new version at once, however it was saved`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let writer = try volume.agent()
            let readers = [try volume.agent(), try volume.agent()]
            writer.store("file", "start")
            var stale = 0
            for round in 0..<(dataPath == .passthrough ? 400 : 150) {
                let content = ByteString(String(repeating: "\(round) ", count: 1 + round % 50))
                switch round % 4 {
                case 0: writer.store("file", content)
                case 1:
                    let file = writer.open("file", O_RDWR)
                    writer.write(file, content)
                    writer.truncate(file, size: content.count)
                    writer.close(file)
                case 2:
                    writer.truncate("file", size: 0)
                    let file = writer.open("file", O_WRONLY | O_APPEND)
                    writer.write(file, content)
                    writer.close(file)
                default:
                    writer.store("temp", content)
                    writer.rename("temp", "file")
                }
                for reader in readers {
                    if reader.status("file").size != content.count { stale += 1 }
                    if reader.content("file") != content { stale += 1 }
                }
            }
            #expect(stale == 0)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `who goes on reading what they wrote keeps nobody from seeing it`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("old", "before")
            for (name, flags) in [
                ("old", O_RDWR), ("old", O_WRONLY), ("new", O_RDWR | O_CREAT),
                ("made", O_WRONLY | O_CREAT),
            ] {
                let path = ByteString(name)
                // Large enough to have a file of its own.
                let content = ByteString(repeating: "w", count: 300_000)
                let file = writer.open(path, flags)
                writer.write(file, content)
                let reading = writer.open(path, O_RDONLY)
                #expect(writer.read(reading, count: 3) == "www")
                writer.close(file)
                #expect(reader.content(path) == content, "\(name) \(flags)")
                #expect(reader.status(path).size == content.count)
                writer.close(reading)
                if name == "old" { writer.store("old", "before") }
            }
        }
    }

    /// The kernel has a version under every name of its file, and truncate(2) is over soon.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `after truncate every process sees the new version at once, by every name`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("one", "start")
            writer.makeDirectory("folder")
            writer.link("one", "folder/two")
            var stale = 0
            for round in 0..<80 {
                var names: [ByteString] = ["one", "folder/two"]
                if round % 2 == 1 { names.reverse() }
                let content = ByteString(String(repeating: "\(round) ", count: 1 + round % 50))
                writer.store(names[0], content)
                for name in names where reader.content(name) != content { stale += 1 }
                let size = round % 3 == 0 ? 0 : content.count * (round % 3) - 1
                writer.truncate(names[0], size: size)
                if reader.status(names[1]).size != size { stale += 1 }
                for name in names.reversed() {
                    let found = reader.content(name)
                    let kept = ByteString(Array(found.bytes.prefix(content.count)))
                    let expected = ByteString(Array(content.bytes.prefix(size)))
                    if found.count != size || kept != expected { stale += 1 }
                }
            }
            #expect(stale == 0)
        }
    }

    /// The version was open to others before the kernel had its size: one read in two hundred had as
    /// many bytes as the version before, with zeros at the end.
    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: DataPath.mountsOfAllUsers)
    func `nobody sees half of what truncate does`(_ dataPath: DataPath) throws {
        let script = """
            import os, signal, time
            end = time.time() + 3
            def put(number):
                with open("file", "wb") as file:
                    file.write(b"%010d" % number * (100, 7000)[number % 2])
            put(0)
            reader = os.getpid()
            writer = os.fork()
            if writer == 0:
                number = 0
                while os.getppid() == reader:
                    number += 1
                    put(number)
                    os.truncate("file", 10)
                os._exit(0)
            torn = rounds = 0
            while time.time() < end or rounds <= 100 and time.time() < end + 60:
                with open("file", "rb") as file:
                    before = os.fstat(file.fileno()).st_size
                    content = file.read()
                    after = os.fstat(file.fileno()).st_size
                rounds += 1
                whole = content[:10] * (len(content) // 10)
                if content != whole or not before == after == len(content): torn += 1
            os.kill(writer, signal.SIGTERM)
            os.wait()
            print(torn, "torn" if rounds > 100 else "of too few")
            """
        try withVolume(dataPath) { volume in
            let result = try volume.run("python3", "-c", script)
            #expect(result.text == "0 torn\n", "\(result)")
        }
    }

    /// The next open may overtake the RELEASE of the last handle on its way to the daemon: then a save
    /// went into the session of the one before it, which was never shown, and where that one was made
    /// durable by fsync a power loss could take both.
    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: DataPath.mountsOfAllUsers)
    func `every close is a version of its own, however soon the next open comes`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            // Several at once, so that a RELEASE comes late.
            let script = """
                import os, sys, time
                events = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
                def told():
                    text = b''
                    while True:
                        try: text += os.read(events, 65536)
                        except BlockingIOError: return text.count(b'"published"')
                told()
                def save(name):
                    for number in range(300):
                        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                        os.write(file, b'%d' % number)
                        os.close(file)
                writers = []
                for name in ['one', 'two', 'three', 'four']:
                    writers.append(os.fork())
                    if writers[-1] == 0:
                        save(name)
                        os._exit(0)
                seen, end = 0, time.monotonic() + 60
                while seen < 1200 and time.monotonic() < end:
                    time.sleep(0.02)
                    seen += told()
                    writers = [one for one in writers if not os.waitpid(one, os.WNOHANG)[0]]
                    if not writers: end = min(end, time.monotonic() + 5)
                print(seen)
                """
            let result = try volume.run(
                "python3", "-c", script, volume.root.text + "/.shapeedit/events")
            #expect(result.text == "1200\n", "\(result)")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a duplicate keeps the session open`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            for round in 0..<8 {
                writer.store("file", "old version")
                let file = writer.open("file", O_WRONLY | O_TRUNC)
                let copy = writer.duplicate(file)
                if round % 2 == 0 { writer.write(file, "first half,") }
                writer.close(file)
                #expect(reader.content("file") == "old version")
                #expect(reader.status("file").size == 11)
                writer.write(copy, "second half")
                #expect(reader.content("file") == "old version")
                writer.close(copy)
                #expect(
                    reader.content("file")
                        == (round % 2 == 0 ? "first half,second half" : "second half"))
            }
        }
    }

    /// With passthrough nothing tells of what is written by the duplicate.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `who writes by a duplicate sees the session by path beside other writers`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, other, reader) = (
                try volume.agent(), try volume.agent(), try volume.agent()
            )
            writer.store("file", "old version")
            let file = writer.open("file", O_RDWR)
            let copy = writer.duplicate(file)
            writer.close(file)
            let second = other.open("file", O_WRONLY)
            writer.write(copy, "what the duplicate wrote")
            #expect(waitUntil { writer.status("file").size == 24 })
            #expect(writer.content("file") == "what the duplicate wrote")
            #expect(reader.content("file") == "old version")
            other.close(second)
            writer.close(copy)
            #expect(reader.content("file") == "what the duplicate wrote")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a child that inherited the descriptor keeps the session open`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            for round in 0..<10 {
                writer.store("file", "old \(round)")
                let file = writer.open("file", O_RDWR)
                writer.write(file, "new version \(round)")
                let child = writer.fork()
                writer.close(file)
                #expect(reader.content("file") == "old \(round)")
                #expect(reader.status("file").size == 5)
                writer.endChild(child)
                #expect(reader.content("file") == "new version \(round)")
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a shell's redirection never shows half`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            for (number, line) in [
                "{ echo one; sleep 0.2; echo two; } > file",
                "(echo one; sleep 0.2; echo two) > file",
                "exec > file; echo one; sleep 0.2; echo two",
                "sh -c 'sh -c \"echo one\"; sleep 0.2; echo two' > file",
                "for w in one two; do echo $w; sleep 0.1; done > file",
                "echo one | { cat; sleep 0.2; echo two; } > file",
                "printf 'one\\ntwo\\n' | tee file > /dev/null; sleep 0.1",
                "cat > file <<X\none\n$(sleep 0.1)two\nX\n",
            ].enumerated() {
                writer.store("file", "old \(number)")
                writer.begin("shell", .program(["sh", "-c", line].map { Array($0.utf8) }))
                var seen: [ByteString] = []
                while !writer.hasFinished(within: 5) {
                    let content = reader.content("file")
                    if seen.last != content { seen.append(content) }
                }
                #expect(writer.finish().result == 0)
                #expect(reader.content("file") == "one\ntwo\n", "\(line)")
                let allowed: Set<ByteString> = ["old \(number)", "one\ntwo\n"]
                #expect(seen.allSatisfy { allowed.contains($0) }, "\(line): \(seen)")
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `the end of a process is its last close`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let reader = try volume.agent()
            for round in 0..<10 {
                let writer = try volume.agent()
                let file = writer.open("file", O_CREAT | O_WRONLY | O_TRUNC)
                writer.write(file, "round \(round)")
                if round % 2 == 0 { writer.end() } else { writer.crash() }
                #expect(reader.content("file") == "round \(round)")
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what a mapping writes is published after munmap and close`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            let old = ByteString(repeating: "o", count: 8192)
            for closeFirst in [false, true] {
                writer.store("file", old)
                let file = writer.open("file", O_RDWR)
                let mapping = writer.map(file, length: 8192, writable: true, shared: true)
                if closeFirst { writer.close(file) }
                writer.setMemory(mapping, offset: 4000, "across the page's end")
                writer.setMemory(
                    mapping, offset: 4090, ByteString(repeating: "n", count: 20))
                #expect(reader.content("file") == old)
                writer.unmap(mapping)
                if !closeFirst { writer.close(file) }
                let start = nanosecondsNow()
                // After munmap the kernel sends its last word in the background.
                while reader.content("file") == old, nanosecondsNow() - start < 15_000_000_000 {
                    usleep(1000)
                }
                let content = reader.content("file")
                #expect(content.count == 8192)
                #expect(Array(content.bytes[4090..<4110]) == [UInt8](repeating: 0x6e, count: 20))
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `opening for writing without writing changes nothing`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            writer.store("file", "content")
            let before = reader.status("file")
            let handle = reader.open("file", O_RDONLY)
            for flags in [O_RDWR, O_WRONLY, O_WRONLY | O_APPEND, O_RDWR | O_CREAT] {
                letTimePass()
                writer.close(writer.open("file", flags))
                #expect(reader.status("file").modified == before.modified)
                #expect(reader.status("file").changed == before.changed)
                #expect(reader.content("file") == "content")
            }
            #expect(reader.read(handle) == "content")
        }
    }
}
