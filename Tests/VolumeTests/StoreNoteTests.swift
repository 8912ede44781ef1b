import Catalog
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

/// Which store a container has.
@Suite(.serialized, .enabled(if: geteuid() == 0, "needs root to mount a small disk"))
struct StoreNoteTests {
    @Test func `a store that a full disk keeps from being noted is refused for that`() throws {
        try InsideContainer.withFolder { path in
            try Directories.make(path)
            try #require(system("mount -t tmpfs -o size=64m none '\(path)'") == 0)
            defer { system("umount -l '\(path)'") }
            try Container.create("test", at: path)
            let container = try Container("test", at: path, holder: "in use by a test")
            defer { container.close() }
            let filler = path + "/filler"
            system("cat /dev/zero > '\(filler)' 2>/dev/null")
            // More than SQLite holds room for.
            let value = [UInt8](repeating: 1, count: 60_000)
            for number in 0..<100 {
                let effect = Effect.putAttribute(
                    .root, name: Array("user.\(number)".utf8), value: value)
                container.log.append(
                    Mutation(
                        time: Timestamp(WallClock.now), kind: .extendedAttributes, item: .root,
                        effects: [effect]))
            }
            let refusal = #expect(throws: Failure.self) { try container.setStore("folder:/other") }
            #expect(refusal?.isDiskFull == true, "\(String(describing: refusal))")
            #expect(try Container.store(at: path) == nil)
            unlink(filler)
            // SQLite takes what it could not when it looks again.
            let end = MonotonicClock.after(milliseconds: 20_000)
            while container.log.problem != nil, MonotonicClock.now < end { usleep(20_000) }
            try container.setStore("folder:/other")
            #expect(try Container.store(at: path) == "folder:/other")
        }
    }
}
