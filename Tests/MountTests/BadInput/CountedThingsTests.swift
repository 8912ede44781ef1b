import Glibc
import Probing
import TestSupport
import Testing

/// What commands say of numbers of things.
@Suite struct CountedThingsTests {
    @Test func `one thing is not told of as several`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let empty = try container.command("status")
        #expect(empty.text.contains(" 1 item, "), "\(empty)")
        let agent = try Agent(in: container.mountPoint)
        let file = agent.open("x", O_CREAT | O_WRONLY)
        agent.write(file, "content")
        agent.synchronize(file)
        try container.killDaemon()
        agent.crash()
        let mounted = try container.command("mount", container.name, container.mountPoint)
        #expect(mounted.errorText.contains(", 1 document published"), "\(mounted)")
        #expect(!mounted.errorText.contains("1 documents"), "\(mounted)")
        let status = try container.command("status")
        #expect(status.text.contains(" 2 items, "), "\(status)")
        try container.unmount()
        let check = try container.check()
        #expect(check.text == "test: 2 items, 1 version checked, sound\n", "\(check)")
    }

    @Test func `what did not happen is not told of`() throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        agent.makeDirectory("folder")
        try container.killDaemon()
        agent.crash()
        let mounted = try container.command("mount", container.name, container.mountPoint)
        #expect(mounted.errorText.contains("recovered after a crash: "), "\(mounted)")
        #expect(!mounted.errorText.contains("published"), "\(mounted)")
    }
}
