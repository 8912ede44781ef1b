import Glibc
import TestSupport
import Testing

/// Files that programs put in the place of a document, or give their first name, and go on with.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct PlacedFileTests {
    /// How a file gets there.
    enum Way: CaseIterable {
        case rename, exchange, link, new

        /// The name at which it is found. The files called `old` have the text `old`.
        func place(_ bytes: ByteString, by agent: Agent) -> (file: Descriptor, name: ByteString) {
            let flags = self == .link ? __O_TMPFILE | O_DIRECTORY : O_CREAT | O_EXCL
            let temporary: ByteString = self == .new ? ".goutputstream-A1B2C3" : "new"
            let file = agent.open(self == .link ? "." : temporary, O_RDWR | flags, mode: 0o644)
            agent.write(file, bytes)
            switch self {
            case .rename: agent.rename("new", "old")
            case .exchange: agent.rename("new", "old", flags: 2)
            case .link:
                agent.link(ByteString("/proc/self/fd/\(file.number)"), "linked", following: true)
                return (file, "linked")
            case .new:
                agent.rename(temporary, "named", flags: 1)
                return (file, "named")
            }
            return (file, "old")
        }
    }

    /// Short enough to be kept without a file of its own, and not.
    private static let sizes = [5, 200_000]

    /// Has one program put a file of each size in its place; `body` gets another one, too.
    private func withPlaced(
        _ dataPath: DataPath, _ way: Way,
        _ body: (Agent, _ other: Agent, Descriptor, _ name: ByteString, _ bytes: ByteString) throws
            -> Void
    ) throws {
        try withVolume(dataPath) { volume in
            let (agent, other) = (try volume.agent(), try volume.agent())
            for size in Self.sizes {
                agent.store("old", "old")
                let bytes = ByteString(repeating: 120, count: size)
                let (file, name) = way.place(bytes, by: agent)
                try body(agent, other, file, name, bytes)
                other.unlink(name)
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers, Way.allCases)
    func `a crash before the close keeps what was written of a file when it got its place`(
        _ dataPath: DataPath, _ way: Way
    ) throws {
        try withVolume(dataPath) { volume in
            for size in Self.sizes {
                let agent = try volume.agent()
                agent.store("old", "old")
                let bytes = ByteString(repeating: 120, count: size)
                let (_, name) = way.place(bytes, by: agent)
                try #require(volume.container).killDaemon()
                volume.endAgents()
                try volume.remountAfterCrash()
                let reader = try volume.agent()
                #expect(reader.content(name) == bytes, "\(size)")
                reader.shell("rm -f old new linked named")
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers, [Way.rename, .link, .new])
    func `who looks for a file that is not closed sees what it had when it got its place`(
        _ dataPath: DataPath, _ way: Way
    ) throws {
        try withPlaced(dataPath, way) { agent, other, file, name, bytes in
            let size = bytes.bytes.count
            #expect(other.content(name) == bytes, "\(size)")
            #expect(other.status(name).size == size)
            // What comes now is whole at the close.
            agent.write(file, "more")
            #expect(other.content(name) == bytes, "\(size)")
            #expect(agent.status(file).size == size + 4)
            agent.close(file)
            #expect(other.content(name) == bytes + ByteString("more"), "\(size)")
        }
    }

    /// Whether somebody has another descriptor, or the end of the close is only late, cannot be told.
    @Test(arguments: DataPath.mountsOfAllUsers, [Way.rename, .link, .new])
    func `who looks for a file whose close does not end sees what it had when it got its place`(
        _ dataPath: DataPath, _ way: Way
    ) throws {
        try withPlaced(dataPath, way) { agent, other, file, name, bytes in
            let size = bytes.bytes.count
            let second = agent.duplicate(file)
            agent.close(file)
            #expect(other.content(name) == bytes, "\(size)")
            agent.close(second)
            #expect(other.content(name) == bytes, "\(size)")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what a mapping writes after a file got its place is there after the close`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (agent, other) = (try volume.agent(), try volume.agent())
            agent.store("old", "old")
            let file = agent.open("new", O_RDWR | O_CREAT | O_EXCL, mode: 0o644)
            agent.write(file, ByteString(repeating: 97, count: 200_000))
            let mapping = agent.map(file, length: 200_000, writable: true, shared: true)
            agent.setMemory(mapping, "first")
            agent.rename("new", "old")
            // Who looks has a copy of it published.
            _ = other.content("old")
            agent.setMemory(mapping, "later")
            agent.unmap(mapping)
            agent.close(file)
            #expect(other.content("old").bytes.prefix(6) == Array("latera".utf8)[...])
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what is written after a file got its place is not shown half`(_ dataPath: DataPath) throws
    {
        try withVolume(dataPath) { volume in
            let (agent, other) = (try volume.agent(), try volume.agent())
            agent.store("old", "old")
            let (file, name) = Way.rename.place("begin", by: agent)
            agent.write(file, ", and in the mid")
            #expect(other.content(name) == "")
            agent.write(file, "dle")
            agent.close(file)
            #expect(other.content(name) == "begin, and in the middle")
        }
    }

    /// Programs save so: they cannot link it over the document.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a file that just got its first name is renamed at once`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (agent, other) = (try volume.agent(), try volume.agent())
            var durations: [Duration] = []
            for number in 1...20 {
                let (file, name) = Way.link.place("\(number)", by: agent)
                let begin = ContinuousClock.now
                agent.rename(name, "document")
                durations.append(ContinuousClock.now - begin)
                agent.close(file)
                #expect(other.content("document") == "\(number)")
            }
            // Waits for the close, which comes afterwards, would take a tenth of a second each.
            #expect(durations.contains { $0 < .milliseconds(100) }, "\(durations)")
        }
    }
}
