import Glibc
import Probing
import TestSupport
import Testing

/// What is said to the daemon when a tree is imported, by whomever.
@Suite(.oneAtATime, .enabled(if: isInstalled("setfattr"), "needs setfattr"))
struct ImportMessageTests {
    /// Runs `body` with a volume that has the folder `in`, and an address for a source that is not read.
    private func withFolder(_ body: (Volume, Agent, String) throws -> Void) throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.shell("mkdir in")
            try body(volume, agent, "\(try #require(volume.container).base)/home/source")
        }
    }

    /// A file without identity.
    private func entry(_ path: String, size: Int = 6) -> [String] {
        ["f", path, "", "tag of \(size)", "\(size)", "", "0", "420", ""]
    }

    /// What is answered to a message of an import to the folder `in`.
    private func answer(_ agent: Agent, _ fields: [String]) -> String {
        let message = fields.flatMap { Array($0.utf8) + [0] }
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return agent.shell("setfattr -n user.shapeedit.import -v 0x\(message) in 2>&1 || :")
    }

    @Test func `only who owns the folder imports to it, and nonsense is refused`() throws {
        try withFolder { volume, agent, _ in
            agent.shell("chmod 777 in")
            let set = "setfattr -n user.shapeedit.import -v"
            for nonsense in ["", "x", "begin", "0x626567696e0078006100", "entries"] {
                agent.shell("! \(set) '\(nonsense)' in")
            }
            #expect(
                agent.shell("getfattr -n user.shapeedit.import in 2>&1 || :").contains("No such"))
            if geteuid() == 0 {
                let other = try volume.agent(user: nobody, group: nobody)
                // begin, t, import, folder:/
                let begin = "0x626567696e00740 0696d706f727400666f6c6465723a2f00".filter {
                    $0 != " "
                }
                let refused = "2>&1 | grep -q 'not permitted'"
                other.shell("\(set) \(begin) in \(refused)")
                // Nor to a folder of their own: the daemon would read for them what they may not.
                other.shell("mkdir in/theirs; \(set) \(begin) in/theirs \(refused)")
                // That it is taken is an error too.
                agent.shell("\(set) \(begin) in 2>&1 | grep -q 'now in progress'")
                // No file is so large: the daemon would stumble over the number.
                for size in ["9223372036854775807", "1152921504606846976"] {
                    let fields = ["entries", "t", "f", "huge", "", "1", size, "", "0", "420", ""]
                    #expect(answer(agent, fields).contains("Invalid argument"))
                }
                other.end()
            }
        }
    }

    @Test func `a run that is over removes nothing and shows nothing`() throws {
        try withFolder { _, agent, source in
            for (token, mode) in [("a", "import"), ("b", "refresh")] {
                for fields in [
                    ["begin", token, mode, "folder:" + source],
                    ["entries", token] + entry("a"), ["end", token], ["end", token],
                ] {
                    #expect(answer(agent, fields).contains("now in progress"))
                }
                let late = answer(agent, ["entries", token] + entry("late"))
                #expect(late.contains("Stale"), "\(late)")
                #expect(agent.names("in") == ["a"])
            }
        }
    }

    @Test(.enabled(if: isInstalled("sqlite3"), "sqlite3 is not installed"))
    func `what was taken over before a message failed is seen, and nothing is removed then`() throws
    {
        try withFolder { volume, agent, source in
            let container = try #require(volume.container)
            for fields in [
                ["begin", "a", "import", "folder:" + source],
                ["entries", "a"] + entry("a") + entry("b") + entry("d"), ["end", "a"],
                ["begin", "b", "refresh", "folder:" + source],
            ] {
                #expect(answer(agent, fields).contains("now in progress"))
            }
            // What has the name of the second entry is looked for when the first has been taken.
            agent.shell("mv in/b in/c; stat -c %s in/*; ls in/new || :")
            let catalog = "sqlite3 -cmd '.timeout 10000' \(container.folder)/catalog.sqlite"
            let ofB = "where path = cast('b' as blob)"
            let content = agent.shell("\(catalog) \"select quote(content) from origin \(ofB)\"")
            agent.shell("\(catalog) \"update origin set content = x'00' \(ofB)\"")
            let failed = answer(
                agent,
                ["entries", "b"] + entry("a", size: 70) + entry("new") + entry("c") + entry("d"))
            #expect(failed.contains("Input/output error"), "\(failed)")
            // The kernel is told when it has the answer.
            waitUntil(seconds: 10) { agent.shell("stat -c %s in/a; ls in") == "70\na\nc\nd\nnew\n" }
            #expect(agent.shell("stat -c %s in/a in/new in/c") == "70\n6\n6\n")
            agent.shell("\(catalog) \"update origin set content = \(content) \(ofB)\"")
            // It is not known what else was shown.
            for fields in [["entries", "b"] + entry("a"), ["end", "b"]] {
                #expect(answer(agent, fields).contains("Stale"))
            }
            #expect(agent.names("in").sorted() == ["a", "c", "d", "new"])
        }
    }
}
