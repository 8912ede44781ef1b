import Glibc
import Probing
import TestSupport
import Testing

/// Refreshes that end in the middle, and what the source does until the next one.
@Suite(.oneAtATime, .enabled(if: isInstalled("setfattr"), "needs setfattr"))
struct CutOffRefreshTests {
    /// What a source shows: paths with the identities behind them; of folders with a slash between.
    private typealias Listing = [String]

    /// Imports the first listing, then begins a refresh with each of the others; only the last one comes to
    /// its end. `here` is run before that, which cannot look into what is `closed`.
    private func follow(
        _ listings: Listing..., here: String = ":", closed: [String] = [],
        body: (Agent) throws -> Void
    ) throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            let source = "\(try #require(volume.container).base)/home/source"
            agent.shell("mkdir in")
            for (number, listing) in listings.enumerated() {
                let mode = number == 0 ? "import" : "refresh"
                let isLast = number == listings.count - 1
                if isLast { agent.shell(here) }
                var messages: [[String]] = [
                    ["begin", "\(number)", mode, "folder:" + source],
                    ["entries", "\(number)"] + listing.flatMap(entry),
                ]
                if isLast, !closed.isEmpty { messages.append(["closed", "\(number)"] + closed) }
                if number == 0 || isLast { messages.append(["end", "\(number)"]) }
                for message in messages {
                    let bytes: [UInt8] = message.flatMap { Array($0.utf8) + [0] }
                    let value = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                    agent.shell(
                        "setfattr -n user.shapeedit.import -v 0x\(value) in 2>&1 | grep 'in progress'"
                    )
                }
                if number == 0 {
                    agent.shell("find in -mindepth 1 -printf '%i %P\\n' | sort > ids")
                }
            }
            try body(agent)
        }
    }

    /// The fields of an entry that is written as `PATH=IDENTITY`, or `PATH/=IDENTITY` for a folder.
    private func entry(_ line: String) -> [String] {
        let parts = line.split(separator: "=").map(String.init)
        let isFolder = parts[0].hasSuffix("/")
        let path = isFolder ? String(parts[0].dropLast()) : parts[0]
        return isFolder
            ? ["d", path, parts[1], "", "0", "", "0", "493", ""]
            : ["f", path, parts[1], "tag", "6", "", "0", "420", ""]
    }

    /// What is here, each with the path that the same item had at first; sorted.
    private func found(_ agent: Agent) -> [String] {
        agent.shell(
            """
            find in -mindepth 1 -printf '%i %P\\n' | sort | join -a 1 -e new -o 1.2,2.2 - ids | sort
            """
        ).split(separator: "\n").map(String.init)
    }

    @Test func `what is moved out of a folder that a refresh was cut off in follows all the same`()
        throws
    {
        try follow(
            ["a/=A", "a/file=F", "a/sub/=S", "a/sub/deep=D", "a/stays=T", "c/=C"],
            ["b/=A"],
            ["b/=A", "b/stays=T", "c/=C", "c/file=F", "c/moved/=S", "c/deep=D"]
        ) { agent in
            #expect(
                found(agent) == [
                    "b a", "b/stays a/stays", "c c", "c/deep a/sub/deep", "c/file a/file",
                    "c/moved a/sub",
                ])
        }
    }

    @Test func `what somebody has moved here stays, though a refresh was cut off`() throws {
        try follow(
            ["a/=A", "a/file=F", "c/=C"], ["b/=A"], ["b/=A", "c/=C", "c/file=F"],
            here: "mv in/b/file in"
        ) { agent in
            #expect(found(agent) == ["b a", "c c", "file a/file"])
        }
    }

    @Test func `what has made way follows when its folder is moved before the next refresh`() throws
    {
        try follow(
            ["a/=A", "a/p=P", "a/q=Q"],
            ["a/=A", "a/p=Q"],
            ["z/=A"],
            ["other/=O", "other/r=P", "z/=A", "z/p=Q"]
        ) { agent in
            #expect(found(agent) == ["other new", "other/r a/p", "z a", "z/p a/q"])
        }
    }

    @Test func `what goes out of a folder whose place another took follows all the same`() throws {
        try follow(
            ["a/=A", "a/sub/=S", "a/sub/file=F", "c/=C"],
            ["b/=A"],
            ["b/=A", "b/sub/=T"],
            ["b/=A", "b/sub/=T", "c/=C", "c/file=F"]
        ) { agent in
            #expect(found(agent) == ["b a", "b/sub a/sub", "c c", "c/file a/sub/file"])
        }
    }

    @Test func `a folder that a refresh was cut off in goes with all that is in it`() throws {
        try follow(
            ["a/=A", "a/sub/=S", "a/sub/file=F", "keep=K"], ["z/=A"], ["keep=K"]
        ) { agent in
            #expect(found(agent) == ["keep keep"])
        }
    }

    @Test func `what is in a folder that is closed now stays, though a refresh was cut off in it`()
        throws
    {
        try follow(
            ["a/=A", "a/shut/=S", "a/shut/file=F", "a/shut/sub/=T", "a/shut/sub/deep=D", "gone=G"],
            ["b/=A", "b/shut/=S"],
            ["b/=A", "b/shut/=S"],
            closed: ["b/shut"]
        ) { agent in
            #expect(
                found(agent) == [
                    "b a", "b/shut a/shut", "b/shut/file a/shut/file", "b/shut/sub a/shut/sub",
                    "b/shut/sub/deep a/shut/sub/deep",
                ])
        }
    }

    @Test func `what is closed by itself stays, though a refresh was cut off above it`() throws {
        try follow(
            ["a/=A", "a/shut/=S", "a/shut/file=F", "a/gone/=G", "a/own=O"],
            ["b/=A"],
            ["b/=A"],
            closed: ["b/shut", "b/own"]
        ) { agent in
            #expect(
                found(agent).filter { !$0.hasSuffix("gone") } == [
                    "b a", "b/own a/own", "b/shut a/shut", "b/shut/file a/shut/file",
                ])
        }
    }

    @Test func `what was moved here out of a folder that is closed now stays where it is`() throws {
        try follow(
            ["a/=A", "a/shut/=S", "a/shut/file=F"],
            ["b/=A", "b/shut/=S"],
            ["b/=A", "b/shut/=S"],
            here: "mv in/b/shut/file in", closed: ["b/shut"]
        ) { agent in
            #expect(found(agent) == ["b a", "b/shut a/shut", "file a/shut/file"])
        }
    }
}
