import Glibc
import Probing
import TestSupport
import Testing

/// The disk of a container is taken away while it is written, and comes back in the same boot: what the
/// kernel had not written is gone, as after a loss of power.
@Suite(.oneAtATime, .enabled(if: FragileDisk.canBeMade, "\(FragileDisk.reason)"))
struct LostDiskTests {
    @Test func `documents fall back to a whole version when the disk was taken away`() throws {
        let machine = try FragileMachine()
        defer { machine.remove() }
        let container = machine.container
        let agent = try machine.start()
        defer { agent.end() }
        let calls = CarefulCalls(agent)
        let first = Documents.content(name: "first", size: 300_000)
        let second = Documents.content(name: "second", size: 400_000)
        let names = (1...8).map { "document \($0)" }
        for name in names { try calls.store(name, first, synchronizing: true) }
        // The changes come to the disk with those of the file that is synchronized, the bytes do not.
        for name in names { try calls.store(name, second, flags: O_TRUNC) }
        try calls.store("last", first, synchronizing: true)
        try machine.disk.losePower()
        try container.killDaemon()
        agent.end()
        try machine.disk.returnPower()
        let mounted = try container.command("mount", container.name, container.mountPoint)
        #expect(mounted.status == 0, "\(mounted)")
        #expect(mounted.errorText.contains("its disk was taken away"), "\(mounted)")
        let reader = try Agent(in: container.mountPoint)
        defer { reader.end() }
        for name in names + ["last"] {
            let found = try CarefulCalls(reader).content(name).get() ?? []
            #expect(found == first || found == second, "\(name): \(found.count) bytes")
        }
        reader.end()
        try container.unmount()
        let check = try container.check()
        #expect(check.status == 0, "\(check)")
    }

    /// The backup's content is the last whole one of the document: both have it then.
    @Test(arguments: [300, 300_000])
    func `a backup stays whole when the document beside it goes back to what it was`(
        size: Int
    ) throws {
        let machine = try FragileMachine()
        defer { machine.remove() }
        let container = machine.container
        let agent = try machine.start()
        defer { agent.end() }
        let calls = CarefulCalls(agent)
        let first = Documents.content(name: "first", size: size)
        let second = Documents.content(name: "second", size: 400_000)
        try calls.store("document", first, synchronizing: true)
        try calls.rename("document", "document~")
        try calls.store("document", second)
        try calls.store("last", Documents.content(name: "last", size: 10), synchronizing: true)
        try machine.disk.losePower()
        try container.killDaemon()
        agent.end()
        try machine.disk.returnPower()
        let reader = try machine.start()
        defer { reader.end() }
        let found = CarefulCalls(reader)
        #expect(try found.content("document~").get() == first)
        #expect(try found.content("document").get() == first)
        reader.end()
        try container.unmount()
        let check = try container.check()
        #expect(check.status == 0, "\(check)")
    }

    /// What was closed is there, also where it is not sealed yet: no bytes were lost.
    @Test func `a daemon that dies loses nothing while the disk stays`() throws {
        let machine = try FragileMachine(mebibytes: 128)
        defer { machine.remove() }
        let container = machine.container
        let agent = try machine.start()
        defer { agent.end() }
        let content = Documents.content(name: "closed", size: 300_000)
        try CarefulCalls(agent).store("closed", content, flags: O_TRUNC)
        try container.killDaemon()
        agent.end()
        // Another path to the same disk, as in another namespace, is no other mount of it.
        let bound = try run(["mount", "--bind", container.dataHome, container.dataHome])
        try #require(bound.status == 0, "\(bound)")
        // A daemon that has just ended may still be closing files.
        defer { _ = try? run(["umount", "-l", container.dataHome]) }
        let reader = try machine.start()
        defer { reader.end() }
        #expect(try CarefulCalls(reader).content("closed").get() == content)
        reader.end()
        try container.unmount()
    }
}
