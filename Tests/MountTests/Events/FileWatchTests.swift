import Glibc
import Probing
import TestSupport
import Testing

/// inotify on a file itself tells what happens to the document, whichever version was current when the
/// watch was set.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct FileWatchTests {
    /// Whether the events come one after the other.
    private func told(_ watch: Watch, _ events: Int...) -> Bool {
        events.allSatisfy { watch.sees(UInt32($0), seconds: 30) }
    }

    @Test(arguments: DataPath.mounts)
    func `who watches a file is told of each save in place by others`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("echo one > document; : > empty; echo x > beside")
            let watches = try ["document", "empty", "beside"].map {
                try #require(Watch("\(volume.directory)/\($0)"))
            }
            let folder = try #require(Watch(volume.directory))
            for text in ["two", "and three", "4"] {
                for (name, watch) in [("document", watches[0]), ("empty", watches[1])] {
                    agent.shell("echo \(text) > \(name)")
                    #expect(told(watch, Int(IN_MODIFY | IN_CLOSE_WRITE)), "\(name) \(text)")
                    #expect(agent.shell("cat \(name)") == text + "\n")
                    usleep(200_000)
                    _ = watch.count(of: 0, name: "")
                }
            }
            agent.shell("echo more >> document")
            #expect(told(watches[0], Int(IN_MODIFY | IN_CLOSE_WRITE)))
            #expect(!watches[2].sees(UInt32(IN_MODIFY | IN_CLOSE_WRITE), seconds: 0))
            // The folder is told once of each, as ever.
            #expect(folder.count(of: UInt32(IN_CLOSE_WRITE), name: "document") == 4)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `who watches a file is told that a later version was replaced or removed`(
        _ dataPath: DataPath
    ) throws {
        for change in ["mv other document", "rm document"] {
            try withVolume(dataPath) { volume in
                let agent = try volume.agent()
                agent.shell("echo one > document; echo x > other")
                let watch = try #require(Watch("\(volume.directory)/document"))
                agent.shell("echo two > document")
                #expect(told(watch, Int(IN_MODIFY | IN_CLOSE_WRITE)))
                agent.shell(change)
                #expect(told(watch, Int(IN_DELETE_SELF)), "\(change)")
                agent.shell("\(change.first == "r" ? "!" : "") test -e document")
            }
        }
    }

    @Test(arguments: DataPath.mounts)
    func `who has a file open and watches it is told, and reads its version`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("yes one | head -c 100000 > document")
            let path = "\(volume.directory)/document"
            let file = open(path, O_RDONLY | O_CLOEXEC)
            try #require(file >= 0)
            defer { close(file) }
            let watch = try #require(Watch(path))
            agent.shell("yes two | head -c 50000 > document")
            #expect(told(watch, Int(IN_MODIFY)))
            var bytes = [UInt8](repeating: 0, count: 8)
            #expect(pread(file, &bytes, 8, 99_992) == 8 && bytes == Array("one\none\n".utf8))
            var status = stat()
            #expect(fstat(file, &status) == 0 && status.st_size == 100_000)
        }
    }

    /// What who watches a file `document` is told on a disk and in a mount, until it is gone. Cutting off and
    /// writing may be told apart or as one.
    ///
    /// - Parameter change: with an agent that is in the file's folder.
    private func told(
        _ dataPath: DataPath, _ change: (Agent, Transcript) throws -> Void
    ) throws -> (disk: [String], mount: [String]) {
        var told: [[String]] = []
        try withVolume(dataPath) { volume in
            let disk = try #require(volume.container).base + "/home/disk"
            let agent = try volume.agent()
            agent.shell("mkdir \(disk)")
            for folder in [disk, volume.directory] {
                agent.changeDirectory(ByteString(folder))
                agent.shell("echo one > document")
                let transcript = try Transcript(volume, "\(folder)/document")
                try change(agent, transcript)
                let events = transcript.events(until: "DELETE_SELF")[""] ?? []
                transcript.end()
                told.append(zip(events, [""] + events).filter { $0 != $1 }.map { $0.0 })
            }
        }
        return (told[0], told[1])
    }

    @Test(.enabled(if: isInstalled("inotifywait"), "needs inotifywait"))
    func `who watches a file is told what they would be on a disk`() throws {
        for dataPath in DataPath.mountsOfAllUsers {
            let (disk, mount) = try told(dataPath) { agent, transcript in
                agent.shell("echo x > other")
                // Saves that follow before one was told can be told as one.
                for (number, save) in ["printf two > document", "printf more >> document"]
                    .enumerated()
                {
                    agent.shell(save)
                    #expect(
                        waitUntil { transcript.count(of: "CLOSE_WRITE,CLOSE") > number }, "\(save)")
                }
                agent.shell("mv other document")
            }
            #expect(disk.last == "DELETE_SELF" && mount == disk)
        }
    }

    @Test(.enabled(if: isInstalled("inotifywait"), "needs inotifywait"))
    func `who watches a file is told of other attributes and names, whatever node they came by`()
        throws
    {
        /// With the event that each ends with.
        let changes = [
            ("touch document", "CLOSE_WRITE,CLOSE"), ("printf two > document", "CLOSE_WRITE,CLOSE"),
            ("chmod 600 document", "ATTRIB"),
            ("touch -d 2001-01-01 document", "CLOSE_WRITE,CLOSE"),
            ("chmod 640 document; printf more >> document", "CLOSE_WRITE,CLOSE"),
            ("ln document link", "ATTRIB"), ("mv document moved", "MOVE_SELF"),
            ("rm link", "ATTRIB"),
            ("printf three >> moved; mv moved document", "MOVE_SELF"),
            ("echo x > other; mv other document", "DELETE_SELF"),
        ]
        for dataPath in DataPath.mountsOfAllUsers {
            let (disk, mount) = try told(dataPath) { agent, transcript in
                for (change, event) in changes {
                    let count = transcript.count(of: event)
                    agent.shell(change)
                    #expect(waitUntil { transcript.count(of: event) > count }, "\(change)")
                }
            }
            #expect(disk.contains("MOVE_SELF") && mount == disk, "\(dataPath)")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `who watches a file is told that who set its times has closed it, also if late`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell("echo one > document")
            let watch = try #require(Watch("\(volume.directory)/document"))
            // Nothing is told but that they were set if that lasts too long, as on a busy machine.
            let isTold = (0..<5).contains { _ in
                agent.shell("exec 3>> document; touch document; sleep 0.3; exec 3>&-")
                return watch.sees(UInt32(IN_CLOSE_WRITE), seconds: 2)
            }
            #expect(isTold)
        }
    }

    @Test(.enabled(if: isInstalled("inotifywait"), "needs inotifywait"))
    func `who watches a folder is told of new documents by names that there can be`() throws {
        try withVolume(.noPassthrough) { volume in
            let container = try #require(volume.container)
            let file = container.base + "/home/told"
            let watcher = try volume.start([
                "sh", "-c",
                "exec inotifywait -m --format '<%f> %e' -o \"$0\" \"$1\" 2> \"$0.errors\"",
                file, volume.directory,
            ])
            defer {
                watcher.kill(signal: SIGKILL)
                _ = watcher.wait(seconds: 10)
            }
            func told(_ text: String, in name: String) -> Bool {
                (try? run(["cat", name]).text.contains(text)) == true
            }
            #expect(waitUntil { told("established", in: file + ".errors") })
            #expect(try container.command("new", volume.directory + "/Ball.shape").status == 0)
            #expect(waitUntil { told("<Ball.shape> ", in: file) })
            #expect(try container.command("new", volume.directory + "/End.list").status == 0)
            #expect(waitUntil { told("<End.list> ", in: file) })
            #expect(!told("</>", in: file))
        }
    }

    @Test func `nodes that nobody watches any more are let go`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.shell("echo one > document")
            var watch = Watch("\(volume.directory)/document")
            try #require(watch != nil)
            agent.shell("echo two > document")
            #expect(watch.map { told($0, Int(IN_CLOSE_WRITE)) } == true)
            watch = nil
            // The mount is not busy, and what the watch kept is not in the way of anything.
            agent.shell("echo three > document; rm document; ! ls .shapeedit/former/* 2> /dev/null")
            try volume.remount()
        }
    }

    @Test(.enabled(if: isInstalled("inotifywait"), "needs inotifywait"))
    func `what a command writes into a document is told as what is written on a disk`() throws {
        // Nothing is told but what the kernel tells of the commands' calls.
        try withVolume(.passthrough, options: ["no_replay"]) { volume in
            let agent = try volume.agent()
            agent.shell("echo one > a.txt; sleep 2.5; echo two > a.txt")
            try volume.shapeedit("new", "@l.list")
            let mounted = try Transcript(volume, volume.directory)
            try volume.shapeedit("restore", "@a.txt")
            try volume.shapeedit("list", "add", "@l.list", "milk")
            let told = mounted.events(until: "/a.txt CLOSE_WRITE", "/l.list CLOSE_WRITE")
            mounted.end()
            #expect(agent.content("a.txt") == "one\n")
            for name in ["a.txt", "l.list"] {
                let events = (told[name] ?? []).reduce(into: [String]()) { events, event in
                    if events.last != event { events.append(event) }
                }
                #expect(events == ["OPEN", "MODIFY", "CLOSE_WRITE,CLOSE"], "\(name)")
            }
        }
    }
}
