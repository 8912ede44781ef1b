import Glibc
import Probing
import TestSupport
import Testing

/// The disk cannot take some of what the kernel writes to it later, and says so once: to whoever syncs next,
/// which need not be the daemon. Afterwards it is well again.
@Suite(.oneAtATime, .enabled(if: FragileDisk.canBeMade, "\(FragileDisk.reason)"))
struct LostWriteTests {
    private let first = Documents.content(name: "first", size: 300_000)
    private let second = Documents.content(name: "second", size: 4_000_000)
    private let names = (1...3).map { "document \($0)" }

    /// A machine with documents that the disk has, whose next versions it has lost.
    ///
    /// - Returns: the machine, its documents' writer, and who keeps what was lost in memory: some kernels let
    ///   single pages go that they could not write, and have zeros for them then.
    private func prepare() throws -> (FragileMachine, Agent, keeper: Agent) {
        let machine = try FragileMachine(mebibytes: 256)
        let agent = try machine.start()
        let calls = CarefulCalls(agent)
        for name in names { try calls.store(name, first, synchronizing: true) }
        try machine.disk.takeRoomBelow()
        for name in names { try calls.store(name, second, flags: O_TRUNC) }
        let keeper = try Agent(in: machine.container.folder)
        for name in try run(["ls", machine.container.folder + "/staging"]).text.split(
            separator: "\n")
        {
            let file = keeper.open("staging/\(name)", O_RDONLY)
            if keeper.status(file).size == second.count {
                keeper.lock(
                    keeper.map(file, length: second.count, writable: false, shared: true))
            }
            keeper.close(file)
        }
        #expect(try !machine.disk.writeOut(), "the disk had room")
        try machine.disk.giveRoomBelow()
        return (machine, agent, keeper)
    }

    @Test func `what an fsync returns for is on the disk, though that failed before`() throws {
        let (machine, agent, keeper) = try prepare()
        defer { machine.remove() }
        defer { keeper.end() }
        defer { agent.end() }
        let calls = CarefulCalls(agent)
        for name in names {
            let file = try calls.open(name, O_RDONLY)
            // It may say that it failed, but not then that it did not.
            let isDone = (1...3).contains { _ in (try? calls.synchronize(file)) != nil }
            #expect(isDone, "\(name)")
            try calls.close(file)
        }
        let reader = try machine.restart(ending: [agent, keeper])
        defer { reader.end() }
        for name in names {
            #expect(try CarefulCalls(reader).content(name).get() == second, "\(name)")
        }
        reader.end()
        try machine.container.unmount()
    }

    @Test func `an fsync that has failed does not succeed without what was lost`() throws {
        let machine = try FragileMachine(mebibytes: 256)
        defer { machine.remove() }
        let agent = try machine.start()
        defer { agent.end() }
        let calls = CarefulCalls(agent)
        try calls.store(names[0], first, synchronizing: true)
        try machine.disk.takeRoomBelow()
        let file = try calls.open(names[0], O_WRONLY | O_TRUNC)
        try calls.write(file, second)
        #expect(throws: CallFailure.self) { try calls.synchronize(file) }
        try machine.disk.giveRoomBelow()
        // The file system has nothing to write any more.
        #expect(throws: CallFailure.self) { try calls.synchronize(file) }
        try calls.close(file)
        // What was closed gets there all the same.
        let closed = try calls.open(names[0], O_RDONLY)
        try calls.synchronize(closed)
        let reader = try machine.restart(ending: [agent])
        defer { reader.end() }
        #expect(try CarefulCalls(reader).content(names[0]).get() == second)
        reader.end()
        try machine.container.unmount()
    }

    @Test func `nothing counts as being on the disk that it has lost`() throws {
        let (machine, agent, keeper) = try prepare()
        defer { machine.remove() }
        defer { keeper.end() }
        defer { agent.end() }
        let folder = machine.container.folder
        let mark = ["od", "\(folder)/durable"]
        let before = try run(mark).text
        // What was published counts as durable, or all documents are sealed.
        try waitUntil(seconds: 30) {
            try run(mark).text != before || run(["ls", "\(folder)/staging"]).text.isEmpty
        }
        let reader = try machine.restart(ending: [agent, keeper])
        defer { reader.end() }
        for name in names {
            let found = try CarefulCalls(reader).content(name).get() ?? []
            #expect(found == first || found == second, "\(name): \(found.count) bytes")
        }
        reader.end()
        try machine.container.unmount()
    }

    @Test func `what came from the store and was lost on the disk is right all the same`() throws {
        let machine = try FragileMachine(mebibytes: 256, store: "folder")
        defer { machine.remove() }
        let container = machine.container
        let agent = try machine.start()
        defer { agent.end() }
        try CarefulCalls(agent).store(names[0], second, synchronizing: true)
        let document = "\(container.mountPoint)/\(names[0])"
        // Refused until the store has it.
        try waitUntil(seconds: 60) { try container.command("evict", document).status == 0 }
        try machine.disk.takeRoomBelow()
        #expect(try CarefulCalls(agent).content(names[0]).get() == second)
        #expect(try !machine.disk.writeOut(), "the disk had room")
        try machine.disk.giveRoomBelow()
        // It counts as being here, or stays a promise.
        let mark = ["od", "\(container.folder)/durable"]
        let before = try run(mark).text
        try waitUntil(seconds: 8) { try run(mark).text != before }
        // The record of that is on the disk with what is synchronized later.
        usleep(300_000)
        try CarefulCalls(agent).store("later", first, synchronizing: true)
        let reader = try machine.restart(ending: [agent])
        defer { reader.end() }
        #expect(try CarefulCalls(reader).content(names[0]).get() == second)
        reader.end()
        try container.unmount()
        let check = try container.check()
        #expect(check.status == 0, "\(check)")
    }
}
