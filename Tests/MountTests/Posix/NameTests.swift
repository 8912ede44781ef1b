import CKernel
import Glibc
import TestSupport
import Testing

@Suite(.oneAtATime) struct NameTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `names have up to 255 bytes`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let longest = ByteString(repeating: "n", count: 255)
            let tooLong = ByteString(repeating: "n", count: 256)
            for kind in FileKind.possible(for: agent) {
                kind.make(longest, by: agent)
                #expect(agent.entries(".").map(\.name) == [longest])
                agent.rename(longest, "short")
                agent.rename("short", tooLong, fails: ENAMETOOLONG)
                agent.rename("short", longest)
                kind.remove(longest, by: agent)
            }
            agent.open(tooLong, O_CREAT | O_WRONLY, fails: ENAMETOOLONG)
            agent.open(tooLong, O_RDONLY, fails: ENAMETOOLONG)
            agent.makeDirectory(tooLong, fails: ENAMETOOLONG)
            agent.symlink(to: "x", tooLong, fails: ENAMETOOLONG)
            agent.makeNode(tooLong, mode: FileKind.fifo.modeBits | 0o600, fails: ENAMETOOLONG)
            agent.unlink(tooLong, fails: ENAMETOOLONG)
            agent.removeDirectory(tooLong, fails: ENAMETOOLONG)
            agent.rename(tooLong, "x", fails: ENAMETOOLONG)
            agent.link(tooLong, "x", fails: ENAMETOOLONG)
            agent.status(tooLong, fails: ENAMETOOLONG)
            agent.truncate(tooLong, size: 0, fails: ENAMETOOLONG)
            agent.changeMode(tooLong, 0o777, fails: ENAMETOOLONG)
            agent.store("file", "")
            agent.link("file", tooLong, fails: ENAMETOOLONG)
            agent.link("file", longest)
            #expect(agent.fileSystemStatus(".").longestName == 255)
            // A path of 4,096 bytes with its terminator is too long for any call.
            let deep = ByteString(String(repeating: "./", count: 2047) + "x")
            agent.status(deep, fails: ENOENT)
            agent.status(deep + "y", fails: ENAMETOOLONG)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `names are bytes and nothing else`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            var names: [ByteString] = [
                "Ünïcödé", "日本語", "🙂", "e\u{301}", "\u{e9}", " ", "  leading", "trailing ",
                "new\nline",
                "tab\t", "\u{1}\u{7f}", "quote'\"`$\\", "*?[a]", "-rf", "...", ".hidden",
                "a:b|c<d>e",
                "CON", "Case", "case", "CASE", "%41", "~", "#", ";",
            ]
            names.append(ByteString([0xff]))
            names.append(ByteString([0xc3, 0x28]))
            names.append(ByteString([0xe2, 0x82]))
            names.append(ByteString([0xed, 0xa0, 0x80]))
            names.append(ByteString([0xc0, 0xaf]))
            names.append(ByteString([UInt8](1...255).filter { $0 != 0x2f }))
            for (index, name) in names.enumerated() { agent.store(name, "\(index)") }
            for (index, name) in names.enumerated() {
                #expect(agent.content(name) == "\(index)")
            }
            #expect(Set(agent.entries(".").map(\.name)) == Set(names))
            try volume.remount()
            let after = try volume.agent()
            #expect(Set(after.entries(".").map(\.name)) == Set(names))
            for (index, name) in names.enumerated() {
                #expect(after.content(name) == "\(index)")
                after.rename(name, "x")
                after.rename("x", name)
                after.unlink(name)
            }
            #expect(after.entries(".").isEmpty)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `everything is still there after a remount`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir", mode: 0o750)
            for kind in FileKind.possible(for: agent) {
                kind.make("dir/\(kind.rawValue)", by: agent, mode: 0o640)
            }
            agent.store("dir/file", "content of the file")
            agent.link("dir/file", "hard")
            agent.setTimes(
                "dir/file", accessed: .at(seconds: 1, nanoseconds: 2),
                modified: .at(seconds: 1_500_000_000, nanoseconds: 123_456_789))
            agent.setAttribute("dir/file", "user.note", "kept")
            agent.setTimes(
                "dir", accessed: .unchanged, modified: .at(seconds: 77, nanoseconds: 7))
            let paths = ["dir", "hard"] + agent.names("dir").map { "dir/\($0)" }
            func all(_ agent: Agent) -> [FileStatus] {
                paths.map { path in
                    var status = agent.status(ByteString(path), following: false)
                    // A new mount is a new device, and looking may set the access time.
                    status.device = 0
                    status.accessed = 0
                    status.blocks = 0
                    return status
                }
            }
            let before = all(agent)
            for _ in 0..<2 {
                try volume.remount()
                let again = try volume.agent()
                #expect(all(again) == before)
                #expect(again.content("hard") == "content of the file")
                #expect(again.attribute("dir/file", "user.note") == "kept")
                #expect(again.readLink("dir/symbolicLink") == "nowhere")
            }
        }
    }
}
