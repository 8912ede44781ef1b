import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct KillTests {
    /// Rounds over all data paths together.
    static let rounds = 25
    /// Writers at the same time.
    static let writerCount = 3

    @Test(arguments: DataPath.mounts)
    func `a daemon killed under load loses nothing it acknowledged`(_ dataPath: DataPath) throws {
        let paths = DataPath.mounts
        let index = paths.firstIndex(of: dataPath) ?? 0
        let seed = TestSeed.value &+ UInt64(index)
        print("kill test, \(dataPath): SHAPEEDIT_TEST_SEED=\(TestSeed.value)")
        let container = try Container()
        defer { container.remove() }
        let options = dataPath == .noPassthrough ? ["no_passthrough"] : []
        var random = SplitMix(seed: seed)
        let writers = try (0..<Self.writerCount).map {
            try LoggedWriter(number: $0, container: container, seed: seed)
        }
        defer { for writer in writers { writer.agent.end() } }
        var acknowledged = 0
        let share = (Self.rounds + paths.count - 1 - index) / paths.count
        var done = 0
        for round in 1...share {
            try mount(container, options)
            let isStillSound = verify(writers, "before round \(round)")
            try killUnderLoad(container, writers, after: random.below(500_000))
            acknowledged += writers.reduce(0) { $0 + $1.acknowledgements }
            if round % 5 == 0 { try expectSoundOrRepaired(container) }
            try mount(container, options)
            guard verify(writers, "after round \(round)"), isStillSound else { break }
            try container.unmount()
            done += 1
        }
        if MountTable.isMounted(container.mountPoint) { try container.unmount() }
        #expect(try container.check().status == 0)
        #expect(acknowledged > done * 10, "the writers did next to nothing")
        print("kill test, \(dataPath): \(done) rounds, \(acknowledged) acknowledged")
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `a daemon that is killed while it has names forgotten ends`() throws {
        let container = try Container()
        defer { container.remove() }
        let folder = "\(container.mountPoint)/w"
        // Names of one folder that change while pictures of them are looked up: without a guard one
        // daemon in ten never ended.
        let load = """
            import os, random
            pictures = "\(container.mountPoint)/.shapeedit/thumbnails/256/w/"
            names = [f"d{number}.list" for number in range(8)]
            while True:
                try:
                    name, new, step = random.choice(names), f"t{os.getpid()}", random.randrange(5)
                    if step == 0: open("\(folder)/" + name, "w").write("milk")
                    if step == 1:
                        open("\(folder)/" + new, "w").write("x")
                        os.rename("\(folder)/" + new, "\(folder)/" + name)
                    if step == 2: os.stat(pictures + name + ".png")
                    if step == 3: os.mkdir("\(folder)/" + new); os.rmdir("\(folder)/" + new)
                    if step == 4: os.listdir("\(folder)")
                except OSError as error:
                    if error.errno in (103, 107): break
            """
        for _ in 0..<6 {
            try mount(container, [])
            mkdir(folder, 0o755)
            let daemon = try #require(try container.status().pid)
            let programs = try (0..<6).map { _ in
                try RunningProgram(["python3", "-c", load].map { Array($0.utf8) })
            }
            usleep(700_000)
            kill(pid_t(daemon), SIGKILL)
            // All who waited are told: they end by themselves.
            for program in programs { #expect(program.wait(seconds: 60).status == 0) }
            #expect(container.waitForEnd(of: daemon), "the daemon does not end")
            MountTable.detach(container.mountPoint)
        }
        try mount(container, [])
        try container.unmount()
        #expect(try container.check().status == 0)
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `a daemon that takes long to end takes no other mount along`() throws {
        let containers = [try Container(), try Container()]
        defer { for container in containers { container.remove() } }
        try mount(containers[0], [])
        let daemon = try #require(try containers[0].status().pid)
        let number = device(of: containers[0])
        // A thread that is traced (PTRACE_SEIZE) is not gone before the tracer has looked. Not one that gets
        // signals before the end.
        let tracing = """
            import ctypes, os, sys, time
            threads = "/proc/\(daemon)/task/"
            thread = next(int(name) for name in os.listdir(threads)
                if open(threads + name + "/comm").read() == "scheduler\\n")
            trace = ctypes.CDLL(None).ptrace
            trace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
            if trace(0x4206, thread, None, None) == 0: open("\(containers[1].base)/traced", "w")
            time.sleep(60)
            """
        let tracer = try RunningProgram(["python3", "-c", tracing].map { Array($0.utf8) })
        defer {
            tracer.kill(signal: SIGKILL)
            _ = tracer.wait(seconds: 10)
        }
        let mark = "\(containers[1].base)/traced"
        waitUntil(seconds: 20) { access(mark, F_OK) == 0 }
        if access(mark, F_OK) != 0 { try Test.cancel("no thread of a daemon can be traced") }
        // Without waiting for its end.
        #expect(try containers[0].command("unmount", containers[0].mountPoint).status == 0)
        try mount(containers[1], [])
        // Mostly the next mount gets the number of the one that went. The guard waits for half a second.
        let isSame = device(of: containers[1]) == number
        usleep(1_000_000)
        let other = try containers[1].status().pid
        #expect(other.map(Container.isAlive) == true, "the same number: \(isSame)")
        try containers[1].unmount()
    }

    private func device(of container: Container) -> dev_t {
        var status = stat()
        return stat(container.mountPoint, &status) == 0 ? status.st_dev : 0
    }

    /// Mounts; what a mount says about recovery has to fit into a line.
    private func mount(_ container: Container, _ options: [String]) throws {
        let words = ["mount", container.name, container.mountPoint]
        let result = try container.command(
            words + (options.isEmpty ? [] : ["-o", options.joined(separator: ",")]))
        try #require(result.status == 0, "mount: \(result)")
        #expect(result.errors.split(separator: 10).count <= 1, "\(result)")
        #expect(MountTable.isMounted(container.mountPoint))
    }

    private func killUnderLoad(
        _ container: Container, _ writers: [LoggedWriter], after microseconds: Int
    ) throws {
        let daemon = try #require(try container.status().pid)
        for writer in writers { writer.start() }
        // Together more than ten.
        for writer in writers { writer.waitFor(acknowledgements: 10 / writers.count + 1) }
        usleep(50_000 + UInt32(microseconds))
        let early = writers.compactMap(\.endingSoFar)
        #expect(early.isEmpty, "failed before the daemon was killed: \(early)")
        kill(pid_t(daemon), SIGKILL)
        for writer in writers { writer.join() }
        container.waitForEnd(of: daemon)
        MountTable.detach(container.mountPoint)
    }

    private func expectSoundOrRepaired(_ container: Container) throws {
        let check = try container.check()
        #expect(check.status == 0 || check.status == 1, "container check: \(check)")
        #expect(try container.check().status == 0, "checked once more, not repaired")
    }

    private func verify(_ writers: [LoggedWriter], _ moment: String) -> Bool {
        let problems = writers.flatMap { $0.verify() }
        for problem in problems.prefix(5) { Issue.record("\(moment): \(problem)") }
        return problems.isEmpty
    }
}
