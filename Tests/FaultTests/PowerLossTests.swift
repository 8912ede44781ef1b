import Glibc
import Probing
import TestSupport
import Testing

/// The disk loses what the kernel had not written yet: what fsync() returned for is there, and
/// every file is a whole version.
@Suite(.oneAtATime, .enabled(if: FragileDisk.canBeMade, "\(FragileDisk.reason)"))
struct PowerLossTests {
    static let rounds = 8
    static let writerCount = 2

    @Test func `what was synchronized survives a loss of power, and nothing is a mixture`() throws {
        let seed = TestSeed.value
        print("power loss test: SHAPEEDIT_TEST_SEED=\(seed)")
        var random = SplitMix(seed: seed)
        let machine = try FragileMachine(mebibytes: 1024)
        defer { machine.remove() }
        let container = machine.container
        // The container itself was made durable by the command that made it.
        let writers = try (0..<Self.writerCount).map {
            try LoggedWriter(number: $0, container: container, seed: seed, survival: .power)
        }
        defer { for writer in writers { writer.agent.end() } }
        var acknowledged = 0
        for round in 1...Self.rounds {
            try container.mount()
            let daemon = try #require(try container.status().pid)
            for writer in writers { writer.start() }
            for writer in writers { writer.waitFor(acknowledgements: 3) }
            usleep(100_000 + UInt32(random.below(800_000)))
            for writer in writers { writer.freeze() }
            try machine.disk.losePower()
            kill(pid_t(daemon), SIGKILL)
            for writer in writers { writer.join() }
            acknowledged += writers.reduce(0) { $0 + $1.acknowledgements }
            container.waitForEnd(of: daemon)
            MountTable.detach(container.mountPoint)
            try machine.returnPower()
            try container.mount()
            let problems = writers.flatMap { $0.verify() }
            for problem in problems.prefix(5) { Issue.record("round \(round): \(problem)") }
            try container.unmount()
            let check = try container.check()
            #expect(check.status == 0 || check.status == 1, "round \(round): \(check)")
            if !problems.isEmpty { break }
        }
        #expect(try container.check().status == 0)
        #expect(acknowledged > Self.rounds * 5, "the writers did next to nothing")
        print("power loss test: \(Self.rounds) rounds, \(acknowledged) acknowledged by fsync")
    }

    @Test func `a synchronized copy of what has just come from the store survives`() throws {
        let machine = try FragileMachine(store: "folder")
        defer { machine.remove() }
        let container = machine.container
        let writer = try machine.start()
        defer { writer.end() }
        let sum = writer.shell("head -c 3000000 /dev/urandom > one; sync one; sha256sum < one")
        let one = "\(container.mountPoint)/one"
        // Refused until the store has it.
        try waitUntil(seconds: 60) { try container.command("evict", one).status == 0 }
        writer.end()
        // Without what the kernel still has of it.
        try container.unmount()
        let agent = try machine.start()
        defer { agent.end() }
        // What comes is made durable after some seconds; the copy has the same bytes, and is at once.
        agent.shell("cp one two && sync two")
        let reader = try machine.restart(ending: [agent])
        defer { reader.end() }
        #expect(reader.shell("sha256sum < two; sha256sum < one") == sum + sum)
        reader.end()
        try container.unmount()
    }

    /// How a container comes to be closed when something has just come from its store.
    enum Closing: CaseIterable {
        case unmounted
        /// Something had come in part, and the disk wrote first which blocks that are.
        case unmountedWithParts
        /// Its daemon died; a command looked at it since.
        case lookedAt
        /// It was to do without its store, and not all came.
        case movedInVain
    }

    @Test(arguments: Closing.allCases)
    func `what came from the store before the container was closed is right`(_ closing: Closing)
        throws
    {
        let machine = try FragileMachine(store: "folder")
        defer { machine.remove() }
        let container = machine.container
        let writer = try machine.start()
        defer { writer.end() }
        writer.shell("for n in f1 f2 f3 f4; do head -c 3000000 /dev/urandom > $n; done")
        writer.shell("head -c 9000000 /dev/urandom > f5; sync f?")
        let sums = writer.shell("sha256sum f?")
        // Refused until the store has them.
        try waitUntil(seconds: 60) {
            try container.command("evict", container.mountPoint).status == 0
        }
        writer.end()
        try container.unmount()
        let found = try run(["find", container.storeFolder, "-size", "+1M"]).text
        let blob = String(try #require(found.split(separator: "\n").first))
        switch closing {
        case .unmounted, .unmountedWithParts, .lookedAt:
            let agent = try machine.start()
            defer { agent.end() }
            agent.shell(
                closing == .unmountedWithParts
                    ? "head -c 3000000 f5 > /dev/null" : "cat f? > /dev/null")
            agent.end()
            if closing == .lookedAt {
                try container.killDaemon()
                let looked = try container.command("bookmark", "list", container.name)
                #expect(looked.status == 0, "\(looked)")
            } else {
                try container.unmount()
                let maps = try run([
                    "find", "\(container.folder)/incoming", "-type", "f", "-size", "-64k",
                    "-print", "-exec", "sync", "{}", "+",
                ])
                #expect(maps.text.isEmpty == (closing == .unmounted), "\(maps)")
            }
        case .movedInVain:
            try #require(rename(blob, blob + ".away") == 0)
            // In another order each time.
            for _ in 0..<3 {
                let moved = try container.command("container", "move-store", container.name, "none")
                #expect(moved.status == Int(EX_UNAVAILABLE), "\(moved)")
            }
        }
        try machine.disk.losePower()
        try machine.returnPower()
        rename(blob + ".away", blob)
        let reader = try machine.start()
        defer { reader.end() }
        #expect(reader.shell("sha256sum f?") == sums)
        reader.end()
        try container.unmount()
    }

    @Test func `what an app saved by renaming survives if its folder was synchronized`() throws {
        let machine = try FragileMachine()
        defer { machine.remove() }
        let owner = machine.container
        try owner.mount()
        let app = try Container(name: "notes", dataHome: owner.dataHome)
        defer { app.remove() }
        try app.mount(asApp: true)
        let agent = try Agent(in: owner.mountPoint)
        defer { agent.end() }
        agent.shell("printf one > a.txt && sync a.txt")
        let granted = try owner.command(
            "grant", "\(owner.mountPoint)/a.txt", "--to", "notes", "--write")
        try #require(granted.status == 0, "\(granted)")
        let writer = try Agent(in: app.mountPoint)
        defer { writer.end() }
        writer.shell(
            """
            cd "in "* && printf two > .goutputstream-Q7K2PD && sync .goutputstream-Q7K2PD &&
            mv .goutputstream-Q7K2PD a.txt && sync .
            """)
        try machine.disk.losePower()
        for container in [app, owner] { try container.killDaemon() }
        agent.end()
        writer.end()
        try machine.returnPower()
        try owner.mount()
        let reader = try Agent(in: owner.mountPoint)
        defer { reader.end() }
        #expect(reader.content("a.txt") == "two")
        reader.end()
        try owner.unmount()
    }

    @Test func `what was closed is safe by itself after some seconds`() throws {
        let machine = try FragileMachine()
        defer { machine.remove() }
        let container = machine.container
        let agent = try machine.start()
        defer { agent.end() }
        let content = Documents.content(name: "closed", size: 10_000)
        try CarefulCalls(agent).store("closed", content, flags: O_TRUNC)
        // Promised are five; a machine under load is not what is tested.
        sleep(8)
        let reader = try machine.restart(ending: [agent])
        defer { reader.end() }
        #expect(try CarefulCalls(reader).content("closed").get() == content)
        reader.end()
        try container.unmount()
    }

    @Test func `what fsync returned for survives also when more was written before the close`()
        throws
    {
        let machine = try FragileMachine()
        defer { machine.remove() }
        let container = machine.container
        let agent = try machine.start()
        defer { agent.end() }
        let calls = CarefulCalls(agent)
        let (first, second) = (
            Documents.content(name: "first", size: 5_000),
            Documents.content(name: "second", size: 100_000)
        )
        try calls.store("log", Documents.content(name: "before", size: 100), synchronizing: true)
        let log = try calls.open("log", O_WRONLY | O_TRUNC)
        try calls.write(log, first)
        try calls.synchronize(log)
        try calls.write(log, second)
        try calls.close(log)
        // The version is published, and that is on the disk: its content need not be.
        let witness = try Agent(in: container.mountPoint)
        defer { witness.end() }
        #expect(try CarefulCalls(witness).content("log").get() == first + second)
        let folder = try CarefulCalls(witness).open(".", O_RDONLY | O_DIRECTORY)
        try CarefulCalls(witness).synchronize(folder)
        let reader = try machine.restart(ending: [witness, agent])
        defer { reader.end() }
        let found = try CarefulCalls(reader).content("log").get() ?? []
        #expect(Array(found.prefix(first.count)) == first, "\(found.count) bytes")
        reader.end()
        try container.unmount()
    }

    @Test func `a file that got a removed name besides its own does not have that one's bytes`()
        throws
    {
        let machine = try FragileMachine()
        defer { machine.remove() }
        let agent = try machine.start()
        defer { agent.end() }
        let calls = CarefulCalls(agent)
        let (first, second) = (
            Documents.content(name: "first", size: 90_000),
            Documents.content(name: "second", size: 100_000)
        )
        try calls.store("a", first, synchronizing: true)
        try calls.store("new", second)
        agent.unlink("a")
        agent.link("new", "a")
        // The names are on the disk; the content need not be.
        let folder = try calls.open(".", O_RDONLY | O_DIRECTORY)
        try calls.synchronize(folder)
        let reader = try machine.restart(ending: [agent])
        defer { reader.end() }
        for name in ["a", "new"] {
            let content = try? CarefulCalls(reader).content(name).get()
            #expect(content == nil || content == [] || content == second)
        }
        reader.end()
        try machine.container.unmount()
    }

    @Test func `a document that is saved all the time goes back to a save that reached the disk`()
        throws
    {
        let machine = try FragileMachine()
        defer { machine.remove() }
        let container = machine.container
        let agent = try machine.start()
        defer { agent.end() }
        var saves: [[UInt8]] = []
        func save() throws {
            saves.append(Documents.content(name: "notes", size: 5_000 + saves.count))
            try CarefulCalls(agent).store("notes", saves[saves.count - 1], flags: O_TRUNC)
            usleep(300_000)
        }
        // Each is a step of the save after it and is thinned out for that, but for the one that a sync
        // of the disk was in time for.
        try waitUntil(seconds: 60) {
            try save()
            // It is there before the sync, and has its moment after it.
            var status = stat()
            return stat("\(container.folder)/durable", &status) == 0 && status.st_size == 8
        }
        for _ in 0..<6 { try save() }
        let reader = try machine.restart(ending: [agent])
        defer { reader.end() }
        let found = try CarefulCalls(reader).content("notes").get() ?? []
        #expect(saves.contains(found), "\(found.count) bytes")
        reader.end()
        try container.unmount()
    }
}
