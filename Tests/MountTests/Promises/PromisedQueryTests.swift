import Glibc
import Probing
import TestSupport
import Testing

/// What queries say of promises.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct PromisedQueryTests {
    /// The names of what is found, without their folder.
    private func found(_ volume: Volume, _ option: String, in folder: String) throws -> String {
        try volume.shapeedit("find", "@" + folder, option).text
            .split(separator: "\n").map { String($0.split(separator: "/").last ?? "") }
            .joined(separator: " ")
    }

    @Test(arguments: DataPath.mounts)
    func `what was imported is found as a promise until it has come`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let source = try #require(volume.container).base + "/home/source"
            let agent = try volume.agent()
            agent.shell("mkdir \(source); echo a > \(source)/a; echo b > \(source)/b")
            try volume.shapeedit("import", "--promise", source, "@in")
            #expect(try found(volume, "--promises", in: "in") == "a b")
            #expect(try found(volume, "--local", in: "in") == "")
            #expect(agent.content("in/a") == "a\n")
            // It may be read before it has been verified.
            #expect(try waitUntil { try volume.state("in/a") == "local" })
            #expect(try found(volume, "--promises", in: "in") == "b")
            #expect(try found(volume, "--local", in: "in") == "a")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `what has come from the store is found as no promise at once`(_ dataPath: DataPath) throws
    {
        try withVolume(dataPath, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("mkdir d; echo one > d/a; head -c 3000000 /dev/urandom > d/b")
            try volume.evictAll()
            #expect(try found(volume, "--promises", in: "d") == "a b")
            let told = try #require(volume.container).base + "/home/told"
            let binary = try BuiltPrograms.shapeedit()
            let watching = try volume.start(
                ["sh", "-c", "exec '\(binary)' find --promises --watch d > '\(told)'"])
            defer { watching.kill(signal: SIGKILL) }
            #expect(waitUntil { agent.shell("grep -c '^+' '\(told)' || true") == "2\n" })
            try volume.shapeedit("materialize", "@d")
            #expect(try found(volume, "--promises", in: "d") == "")
            #expect(try found(volume, "--local", in: "d") == "a b")
            #expect(waitUntil { agent.shell("grep -c '^-' '\(told)' || true") == "2\n" })
        }
    }
}
