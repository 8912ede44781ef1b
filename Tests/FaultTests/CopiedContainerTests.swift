import Glibc
import Probing
import TestSupport
import Testing

/// Copies of a container's folder that were made while it was mounted, or after a crash.
@Suite(.oneAtATime) struct CopiedContainerTests {
    /// Mounts a copy called "copy", in another data directory if it is said, and looks at its documents.
    private func withCopy(
        of container: Container, dataHome: String? = nil, _ body: (String, Agent) throws -> Void
    ) throws {
        container.additionalEnvironment["XDG_DATA_HOME"] = dataHome
        defer { container.additionalEnvironment["XDG_DATA_HOME"] = nil }
        let mounted = try container.command("mount", "copy", container.mountPoint)
        try #require(mounted.status == 0, "\(mounted)")
        let agent = try Agent(in: container.mountPoint)
        try body(mounted.errorText, agent)
        agent.end()
        let unmounted = try container.command("unmount", container.mountPoint)
        #expect(unmounted.status == 0, "\(unmounted)")
        let check = try container.command("container", "check", "copy")
        #expect(check.status == 0, "\(check)")
    }

    /// It was taken for a damaged journal, and nothing of the backup could be had in the same boot.
    @Test func `a copy that was made while the container was in use is mounted with what it has`()
        throws
    {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        for number in 1...20 { agent.store("early\(number)", "text \(number)") }
        // As cp does it: file by file, and the last one when others are not what they were.
        let copied = try run(["cp", "-a", container.folder, container.folder + "/../copy"])
        try #require(copied.status == 0, "\(copied)")
        for number in 1...20 { agent.store("late\(number)", "text \(number)") }
        let rest = try run(
            ["cp", "-a", "\(container.folder)/journal/last", "\(container.folder)/../copy/journal"])
        try #require(rest.status == 0, "\(rest)")
        agent.end()
        try container.unmount()
        for round in 1...2 {
            try withCopy(of: container) { words, reader in
                #expect(words.contains("from a copy") == (round == 1), "\(words)")
                for number in 1...20 {
                    #expect(reader.content("early\(number)") == ByteString("text \(number)"))
                }
                reader.store("own\(round)", "text")
            }
        }
        try container.mount()
        let original = try Agent(in: container.mountPoint)
        for number in 1...20 {
            #expect(original.content("late\(number)") == ByteString("text \(number)"))
        }
        original.end()
        try container.unmount()
    }

    /// Who copies reads from the kernel's memory what is not on the disk yet.
    @Test(.enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)))
    func `what was closed before a crash is in a copy on another disk`() throws {
        let disks = try [SmallDisk(mebibytes: 96), SmallDisk(mebibytes: 96)]
        defer { for disk in disks { disk.remove() } }
        let container = try Container(dataHome: disks[0].mountPoint)
        defer { container.remove() }
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        let content = Documents.content(name: "closed", size: 300_000)
        try CarefulCalls(agent).store("closed", content, flags: O_TRUNC)
        try container.killDaemon()
        agent.end()
        let home = "\(disks[1].mountPoint)/shapeedit/containers"
        let line = "mkdir -p '\(home)' && cp -a '\(container.folder)' '\(home)/copy'"
        let copied = try run(["sh", "-c", line])
        try #require(copied.status == 0, "\(copied)")
        try withCopy(of: container, dataHome: disks[1].mountPoint) { words, reader in
            #expect(words.contains("from a copy"), "\(words)")
            let found = try CarefulCalls(reader).content("closed").get()
            #expect(found == content)
        }
        try container.mount()
        let original = try Agent(in: container.mountPoint)
        #expect(try CarefulCalls(original).content("closed").get() == content)
        original.end()
        try container.unmount()
    }
}
