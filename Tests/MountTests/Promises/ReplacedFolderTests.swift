import Probing
import TestSupport
import Testing

/// Folders whose names others have at the source by the next refresh, where the source tells them apart.
@Suite(.oneAtATime, .enabled(if: isInstalled("setfattr"), "needs setfattr"))
struct ReplacedFolderTests {
    private func folder(_ path: String, _ identity: String) -> [String] {
        ["d", path, identity, "", "0", "", "0", "493", ""]
    }

    private func file(_ path: String, _ identity: String) -> [String] {
        ["f", path, identity, "tag", "6", "", "0", "420", ""]
    }

    private func tell(_ agent: Agent, _ fields: [String]) {
        let message = fields.flatMap { Array($0.utf8) + [0] }
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let answer = agent.shell("setfattr -n user.shapeedit.import -v 0x\(message) in 2>&1 || :")
        #expect(answer.contains("now in progress"), "\(answer)")
    }

    /// The new `a` before or after those that were renamed, with what is in it or without.
    enum Order: CaseIterable { case newFirst, newFirstWithAll, newLast, oldestLast }

    @Test(arguments: Order.allCases, [false, true])
    func
        `a folder that was renamed keeps what is its own, whichever has its name and is listed first`(
            _ order: Order, _ isInOneMessage: Bool
        ) throws
    {
        let new = [folder("a", "9"), folder("a/sub", "91"), file("a/new", "92")]
        let first = [
            folder("b", "1"), folder("b/sub", "11"), file("b/sub/y", "12"), file("b/x", "13"),
        ]
        let second = [folder("c", "2"), file("c/z", "21")]
        let entries =
            switch order {
            case .newFirst: [new[0], first[0], second[0]] + new[1...] + first[1...] + second[1...]
            case .newFirstWithAll: new + first + second
            case .newLast: second + first + new
            case .oldestLast: new + second + first
            }
        try withVolume(.passthrough) { volume in
            let source = "\(try #require(volume.container).base)/home/source"
            let agent = try volume.agent()
            agent.shell("mkdir in")
            tell(agent, ["begin", "t", "import", "folder:" + source])
            let before = [
                folder("a", "1"), folder("a/sub", "11"), file("a/sub/y", "12"), file("a/x", "13"),
                folder("b", "2"), file("b/z", "21"),
            ]
            tell(agent, ["entries", "t"] + before.flatMap { $0 })
            tell(agent, ["end", "t"])
            agent.shell(
                """
                echo own > in/a/own; echo own > in/a/sub/own; echo own > in/b/own
                setfattr -n user.shapeedit.pin -v online-only in/a
                find in -mindepth 1 -printf '%i %P\\n' | sed -E 's/ b/ c/; s/ a/ b/' | sort > before
                """)
            tell(agent, ["begin", "u", "refresh", "folder:" + source])
            if isInOneMessage {
                tell(agent, ["entries", "u"] + entries.flatMap { $0 })
            } else {
                for entry in entries { tell(agent, ["entries", "u"] + entry) }
            }
            tell(agent, ["end", "u"])
            // The kernel is told when it has the answer.
            waitUntil(seconds: 10) { agent.shell("ls in/a || :") == "new\nsub\n" }
            #expect(agent.shell("cd in; find a | sort") == "a\na/new\na/sub\n")
            let difference = agent.shell(
                """
                cd in; find b c -printf '%i %p\\n' | sort | diff ../before - 2>&1 || :
                getfattr --only-values -n user.shapeedit.pin b
                ! getfattr --only-values -n user.shapeedit.pin a 2> /dev/null | grep online
                """)
            #expect(difference == "online-only")
            #expect(agent.names("in").sorted() == ["a", "b", "c"])
        }
    }
}
