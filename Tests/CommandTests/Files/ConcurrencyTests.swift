import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct ConcurrencyTests {
    private static let writers = 20

    @Test(.timeLimit(.minutes(3)), arguments: Desk.places)
    func `edits of different parts at the same time all land`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape", "--template", "empty")
            let parts = (1...Self.writers).map { "add cube Box\($0)" }.joined(separator: "\n")
            try desk.run("apply", "s.shape", "-", input: Array(parts.utf8))
            let steps = try desk.run("history", "s.shape").split(separator: "\n").count
            let programs = try (1...Self.writers).map {
                try desk.start(["set", "s.shape", "Box\($0).position=\($0),0,\($0)"])
            }
            var reads = 0
            // Whoever reads meanwhile finds one whole version.
            while programs.contains(where: \.isRunning) {
                let bytes = try #require(desk.bytes("s.shape"))
                let value = try? JSONValue.read(bytes)
                let count = value?["nodes"]?.elements.count
                #expect(
                    count == Self.writers,
                    "a torn file of \(bytes.count) bytes: \(String(decoding: bytes, as: UTF8.self))"
                )
                if count != Self.writers { break }
                reads += 1
            }
            for (index, program) in programs.enumerated() {
                let result = program.wait()
                #expect(result.status == 0, "\(index + 1): \(result)")
            }
            #expect(reads > 0)
            for number in 1...Self.writers {
                #expect(
                    try desk.get("s.shape", "Box\(number).position") == "\(number),0,\(number)")
            }
            // Each is a step of its own.
            let after = try desk.run("history", "s.shape").split(separator: "\n")
            #expect(after.count == steps + Self.writers, "\(after.joined(separator: "\n"))")
            #expect(!after.contains { $0.contains("another program") }, "\(after)")
            for _ in 1...Self.writers { try desk.run("undo", "s.shape") }
            for number in 1...Self.writers {
                #expect(try desk.get("s.shape", "Box\(number).position") == "0,0,0")
            }
            #expect(try desk.names() == ["s.shape"])
        }
    }

    @Test func `who holds the lock too long is said`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let holder = try RunningProgram(
                ["flock", "s.shape", "sleep", "60"].map { Array($0.utf8) }, directory: desk.folder)
            defer { holder.kill(signal: SIGKILL, group: true) }
            // Until it has it.
            for _ in 0..<1000
            where try Probing.run(["flock", "-n", desk.path("s.shape"), "true"]).status == 0 {
                usleep(1000)
            }
            let message = try desk.fail(75, "set", "s.shape", "title=x")
            #expect(message.contains("locked"))
            // Reading needs no lock.
            #expect(try desk.get("s.shape", "Sphere.shape") == "sphere")
        }
    }
}
