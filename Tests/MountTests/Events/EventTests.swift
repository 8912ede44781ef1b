import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// What happens, as `.shapeedit/events` and `shapeedit watch` tell it.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct EventTests {
    /// The number of the last change.
    private static func head(_ volume: Volume) throws -> UInt64 {
        let result = try volume.run(
            "sed", "-n", #"s/.*"lastChange": \([0-9]*\).*/\1/p"#,
            "\(volume.root.text)/.shapeedit/status.json")
        return try #require(UInt64(result.text.filter(\.isNumber)))
    }

    /// The first `count` lines that `shapeedit watch` prints, without the moment.
    private static func watched(
        _ volume: Volume, since: UInt64, count: Int, path: String = "",
        at location: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let result = try #require(volume.container).command(
            "watch", volume.directory + path, "--since", String(since), "--count", String(count))
        #expect(result.status == 0, "\(result)", sourceLocation: location)
        return result.text.split(separator: "\n").map { line in
            line.split(separator: " ").dropFirst().joined(separator: " ")
        }
    }

    /// A program that reads and writes down what it read.
    private struct Follower {
        let program: RunningProgram
        let file: String

        init(_ events: String, writing file: String) throws {
            self.file = file
            program = try RunningProgram(
                ["sh", "-c", "exec cat '\(events)' > '\(file)'"].map { Array($0.utf8) })
        }

        /// Waits until it has read so many lines with `pattern`, a minute at most.
        func has(_ count: Int, _ pattern: String) throws -> Bool {
            for _ in 0..<600 {
                let found = try run(["grep", "-cE", pattern, file]).text
                if (Int(found.filter(\.isNumber)) ?? 0) >= count { return true }
                usleep(100_000)
            }
            return false
        }
    }

    /// Followers of `events` in the volume's mount, which write to files in `folder`.
    private static func followers(
        _ count: Int, _ volume: Volume, _ events: String, _ folder: String
    ) throws -> [Follower] {
        try (0..<count).map {
            try Follower(
                "\(volume.root.text)/.shapeedit/\(events)", writing: "\(folder)/\($0)")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what only looks like what is watched is not told`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let (name, other) = ("caf\u{e9}", "cafe\u{301}")
            agent.makeDirectory(ByteString(name))
            agent.makeDirectory(ByteString(other))
            let start = try Self.head(volume)
            agent.store(ByteString(other + "/a"), "")
            // To Unicode the mark and the slash before it are one character.
            agent.store(ByteString(name + "/\u{301}"), "")
            let told = try Self.watched(volume, since: start, count: 1, path: "/" + name)
            #expect(told.map { Array($0.utf8) } == [Array("created work/\(name)/\u{301}".utf8)])
        }
    }

    @Test(arguments: DataPath.mounts)
    func `what happened is told in order, with the paths of the time`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let start = try Self.head(volume)
            agent.shell("printf one > a; mkdir d; mv a d/b; ln d/b c; ln -s c l; chmod 600 c")
            agent.shell("setfattr -n user.x -v 1 c; rm -r d; mv c e")
            let expected = [
                "created work/a", "published work/a", "created work/d",
                "renamed work/a -> work/d/b", "linked work/c", "created work/l",
                "attributes work/e", "extendedAttributes work/e", "removed work/d/b",
                "removed work/d", "renamed work/c -> work/e",
            ]
            let told = try Self.watched(volume, since: start, count: expected.count)
            #expect(told == expected)
            // The same again of a document alone, by all its names.
            agent.shell("printf two > e")
            #expect(
                try Self.watched(volume, since: start, count: 4, path: "/e") == [
                    "created work/a", "published work/a", "renamed work/a -> work/d/b",
                    "linked work/c",
                ])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `of two names that change places it is told where each was`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for name: ByteString in ["a", "d", "d/b"] { agent.makeDirectory(name) }
            let start = try Self.head(volume)
            agent.rename("a", "d/b", flags: RENAME_EXCHANGE)
            #expect(
                try Self.watched(volume, since: start, count: 2) == [
                    "renamed work/a -> work/d/b", "renamed work/d/b -> work/a",
                ])
            // Who looks at one place is told what came there and what went.
            #expect(
                try Self.watched(volume, since: start, count: 2, path: "/d") == [
                    "renamed work/a -> work/d/b", "renamed work/d/b -> work/a",
                ])
            agent.rename("a", "d", flags: RENAME_EXCHANGE)
            #expect(
                try Self.watched(volume, since: start, count: 4).suffix(2) == [
                    "renamed work/a -> work/d", "renamed work/d -> work/a",
                ])
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `several readers have their own places, also over a crash`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let start = try Self.head(volume)
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            // Three that wait, and one that looks from time to time.
            let readers = try Self.followers(3, volume, "events-\(start)", folder)
            for number in 0..<20 { agent.store("file\(number)", "x") }
            var place = start
            var looked: [String] = []
            for _ in 0..<4 {
                looked += try Self.watched(volume, since: place, count: 10)
                place = try Self.sequence(
                    volume, of: looked.last ?? "", after: start)
            }
            let all = try Self.watched(volume, since: start, count: 40)
            #expect(looked == all)
            for reader in readers { #expect(try reader.has(40, "created|published")) }
            // They end with the mount.
            try volume.container?.killDaemon()
            for reader in readers { #expect(reader.program.wait(seconds: 60).status == 1) }
            try volume.remountAfterCrash()
            #expect(try Self.watched(volume, since: start, count: 40) == all)
        }
    }

    /// The sequence of the line that `watched` shows as `text`.
    private static func sequence(
        _ volume: Volume, of text: String, after start: UInt64
    ) throws -> UInt64 {
        let words = text.split(separator: " ")
        let result = try #require(volume.container).command(
            "watch", volume.directory, "--since", String(start), "--count", "40", "--json")
        let line = result.text.split(separator: "\n").first {
            $0.contains("\"kind\": \"\(words[0])\"") && $0.contains("\"path\": \"\(words[1])\"")
        }
        let found = try #require(line?.dropFirst("{\"sequence\": ".count))
        return try #require(UInt64(found.prefix { $0.isNumber }))
    }

    @Test(arguments: DataPath.mounts)
    func `a reader that waits holds nobody up and can be ended`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            // More than the mount has threads; all of them wait when they have read that.
            let readers = try Self.followers(24, volume, "events-1", folder)
            for reader in readers { #expect(try reader.has(1, "created")) }
            agent.store("file", "content")
            #expect(agent.content("file") == "content")
            agent.rename("file", "other")
            for (number, reader) in readers.enumerated() {
                #expect(try reader.has(1, "renamed"))
                reader.program.kill(signal: number % 2 == 0 ? SIGINT : SIGKILL)
                let status = reader.program.wait(seconds: 60).status
                #expect(status == (number % 2 == 0 ? 130 : 137))
            }
            // The mount is not busy any more.
            try volume.remount()
        }
    }

    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: DataPath.mounts.prefix(1))
    func `poll, reads without waiting, and threads of one file`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let script = """
                import os, select, sys, threading
                path = sys.argv[1]
                file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                poll, epoll = select.poll(), select.epoll()
                poll.register(file, select.POLLIN)
                epoll.register(file, select.EPOLLIN)
                def read_all():
                    text = b''
                    while True:
                        try: text += os.read(file, 7)
                        except BlockingIOError: return text
                assert read_all() == b''
                assert poll.poll(0) == [] and epoll.poll(0) == []
                threading.Timer(0.3, lambda: os.mkdir('one')).start()
                assert poll.poll(60000) == [(file, select.POLLIN)]
                assert epoll.poll(60) == [(file, select.EPOLLIN)]
                text = read_all()
                assert text.count(b'\\n') == 1 and b'work/one' in text, text
                assert poll.poll(0) == []
                # Other files are ready as ever.
                with open('file', 'w') as other:
                    poll.register(other, select.POLLOUT)
                    assert (other.fileno(), select.POLLOUT) in poll.poll(0)
                # Two threads of one open file: one that waits does not keep the other from it.
                os.set_blocking(file, True)
                read_all_lock = []
                def wait(): read_all_lock.append(os.read(file, 65536))
                os.set_blocking(file, False)
                read_all()
                os.set_blocking(file, True)
                threads = [threading.Thread(target=wait) for _ in range(2)]
                for thread in threads: thread.start()
                for name in ['two', 'three']:
                    os.mkdir(name)
                while any(thread.is_alive() for thread in threads):
                    os.mkdir('more' + str(len(os.listdir('.'))))
                    for thread in threads: thread.join(0.05)
                text = b''.join(read_all_lock)
                assert b'work/two' in text, text
                try:
                    os.lseek(file, 0, 0)
                    raise SystemExit('it can be sought')
                except OSError as error:
                    assert error.errno == 29, error
                """
            let result = try volume.run(
                "python3", "-c", script, volume.root.text + "/.shapeedit/events")
            #expect(result.status == 0, "\(result)")
        }
    }

    /// A second for each save would pass until the keeper flushes the log; live queries tell what
    /// follows on something else after a tenth.
    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: DataPath.mounts.prefix(2))
    func `a save in place is told at once, however it is made`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let script = """
                import json, os, select, socket, sys, time
                top = sys.argv[1] + '/.shapeedit/'
                with open('document', 'w') as file: file.write('first')
                status = json.load(open(top + 'status.json'))
                control = socket.socket(socket.AF_UNIX)
                control.connect(status['control'])
                control.settimeout(60)
                call = {'method': 'org.shapeedit.Control.Query', 'more': True,
                        'parameters': {'query': 'name=document'}}
                control.sendall(json.dumps(call).encode() + b'\\0')
                rest = b''
                def message():
                    global rest
                    while b'\\0' not in rest: rest += control.recv(65536)
                    text, _, rest = rest.partition(b'\\0')
                    return json.loads(text)['parameters']
                while not message()['complete']: pass
                events = os.open(top + 'events', os.O_RDONLY | os.O_NONBLOCK)
                def published():
                    text = b''
                    while b'"published"' not in text:
                        assert select.select([events], [], [], 60)[0]
                        text += os.read(events, 65536)
                    assert b'document"' in text, text
                def followed(size):
                    while not any(new['result']['size'] == size
                                  for new in message().get('updated', [])): pass
                ways = [os.O_WRONLY | os.O_TRUNC, os.O_RDWR, os.O_WRONLY | os.O_APPEND]
                times = []
                for number in range(12):
                    start = time.monotonic()
                    file = os.open('document', ways[number % 3])
                    os.write(file, bytes(10 + number))
                    if number % 2: os.fsync(file)
                    size = os.fstat(file).st_size
                    os.close(file)
                    published()
                    followed(size)
                    times.append(time.monotonic() - start)
                # Most of them, without fsync and with it: the machine may be busy now and then.
                for some in [times[0::2], times[1::2]]: assert sorted(some)[2] < 0.6, times
                """
            let result = try volume.run("python3", "-c", script, volume.root.text)
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test(
        .enabled(if: isInstalled("python3"), "needs python3"),
        arguments: DataPath.mounts.prefix(1))
    func `what is not known any more is told as lost`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for number in 0..<10 { agent.store("file\(number)", "x") }
            volume.endAgents()
            let container = try #require(volume.container)
            try container.unmount()
            let script = """
                import sqlite3, sys
                db = sqlite3.connect(sys.argv[1])
                db.execute('DELETE FROM change WHERE seq <= 12')
                db.execute("INSERT OR REPLACE INTO meta VALUES ('pruned', 12)")
                db.commit()
                """
            let result = try run(["python3", "-c", script, container.folder + "/catalog.sqlite"])
            #expect(result.status == 0, "\(result)")
            try volume.remountAfterCrash()
            let told = try container.command(
                "watch", container.mountPoint, "--since", "3", "--count", "2", "--json")
            let lines = told.text.split(separator: "\n")
            #expect(
                lines.first
                    == #"{"sequence": 12, "kind": "lost", "first": 4, "last": 12}"#)
            #expect(lines.last?.hasPrefix(#"{"sequence": 1"#) == true)
            // A change that has not happened yet cannot be the last that is known.
            let future = try container.command("watch", container.mountPoint, "--since", "9999")
            #expect(future.status == 64)
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs another user"),
        arguments: DataPath.mounts.prefix(1))
    func `only the owner of the mount is told`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let other = try volume.agent(user: nobody)
            let folder = volume.root + "/.shapeedit"
            other.open(folder + "/events", O_RDONLY, fails: EACCES)
            other.open(folder + "/events-1", O_RDONLY, fails: EACCES)
            other.open(folder + "/events", O_RDWR, fails: EACCES, EROFS)
        }
    }
}
