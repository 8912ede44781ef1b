import Glibc
import Probing
import TestSupport
import Testing

/// `shapeedit find`, and `.shapeedit/find`.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct FindTests {
    /// What is found, below the desk.
    private static func found(_ desk: Desk, _ words: String...) throws -> [String] {
        let result = try desk.shapeedit(["find"] + words)
        #expect(result.status == 0, "\(words): \(result)")
        return result.text.split(separator: "\n").map {
            String($0.dropFirst(desk.folder.count + 1))
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `documents are found by what is known of them`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("printf 1 > Ball.shape; printf 22 > b.txt; mkdir -p 'd e/f' .h")
            try desk.shell("printf 333 > 'd e/ball two.SHAPE'; printf 4444 > 'd e/f/c.txt'")
            try desk.shell("printf x > .hidden; printf x > .h/x.txt; ln -s b.txt link")
            try desk.shell("printf x > .goutputstream-ABC123; touch -d '3 days ago' b.txt")
            let all = ["Ball.shape", "b.txt", "d e/ball two.SHAPE", "d e/f/c.txt"]
            #expect(try Self.found(desk) == all)
            #expect(try Self.found(desk, desk.path("d e")) == Array(all[2...]))
            #expect(try Self.found(desk, "--name", "ball") == [all[0], all[2]])
            #expect(try Self.found(desk, "--name", "b*.txt") == ["b.txt"])
            #expect(try Self.found(desk, "--type", "shape") == [all[0], all[2]])
            #expect(try Self.found(desk, "--type", ".TXT, other") == [all[1], all[3]])
            #expect(try Self.found(desk, "--min-size", "2", "--max-size", "3") == [all[1], all[2]])
            #expect(
                try Self.found(desk, "--min-size", "2B", "--max-size", "1k") == Array(all[1...]))
            // Nothing to look for leaves nothing out.
            for option in ["--name", "--type", "--tag", "--text", "--title"] {
                #expect(try Self.found(desk, option, "") == all, "\(option)")
            }
            #expect(try Self.found(desk, "--text", "(!) -") == all)
            // As many as no name of a file can have.
            let stars = String(repeating: "*", count: 5_000)
            #expect(try Self.found(desk, "--name", "b" + stars + "t") == ["b.txt"])
            #expect(try Self.found(desk, "--days", "2") == [all[0], all[2], all[3]])
            try desk.shell("touch -d '2020-05-01 12:00' d*/f/c.txt")
            #expect(try Self.found(desk, "--before", "2020-05-01T12:01") == [all[3]])
            #expect(try Self.found(desk, "--before", "2020-05-01 12:00") == [])
            #expect(
                try Self.found(desk, "--after", "2020-05-01T12:00", "--before", "2020-05-02")
                    == [all[3]])
            #expect(try Self.found(desk, "--after", "2020-05-02") == Array(all[..<3]))
            #expect(try Self.found(desk, "--after", "1970-01-01") == all)
            #expect(try Self.found(desk, "--before", "1960-01-01") == [])
            #expect(
                try Self.found(desk, "--after", "2020-01-01", "--days", "2") == [all[0], all[2]])
            try desk.shell("touch d*/f/c.txt")
            #expect(try Self.found(desk, "--local") == all)
            try desk.fail(64, "find", "--local", "--promises")
            // 11:15 is none of what was meant by the second.
            for time in ["soon", "2020-05-01T10:75", "2020-05-01T10:00:61", "2020-05-01T24:00"] {
                try desk.fail(64, "find", "--before", time)
            }
            // Nor is 3:30, where the clocks are put forward from 2 to 3.
            let zone = "TZ=CET-1CEST,M3.5.0,M10.5.0/3 '\(try BuiltPrograms.shapeedit())'"
            try desk.shell("\(zone) find --after '2026-03-29 02:30' ; test $? = 64")
            for time in ["01:59:59", "03:00:00", "12:59:60"] {
                try desk.shell("\(zone) find --after '2026-03-29 \(time)' >/dev/null")
            }
            // A day may begin at 1.
            try desk.shell(
                "TZ=CET-1CEST,M3.5.0/0,M10.5.0 '\(try BuiltPrograms.shapeedit())' "
                    + "find --after 2026-03-29 >/dev/null")
            for offset in ["+9900", "+0175", "-24"] {
                try desk.fail(64, "find", "--before", "2020-05-01T10:00\(offset)")
            }
            #expect(try Self.found(desk, "--kind", "folders") == ["d e", "d e/f"])
            #expect(try Self.found(desk, "--promises") == [])
            #expect(
                try Self.found(desk, "--sort", "size", "--reverse", "--limit", "2")
                    == [all[3], all[2]])
            #expect(try Self.found(desk, "--sort", "modified").first == "b.txt")
            #expect(
                try Self.found(desk, "--hidden")
                    == [".h/x.txt", ".hidden"] + all)
            let listed = try JSONValue.read(try desk.run("find", "--name", "ball", "--json"))
            #expect(listed.elements.map { $0["size"] } == [.number(1), .number(3)])
            // A symlink is as large as lstat(2) says; a folder has no size.
            let others = try JSONValue.read(
                try desk.run("find", "--kind", "all", "--name", "link", "--json"))
            #expect(others.elements.map { $0["size"] } == [.number(5)])
            #expect(try Self.found(desk, "--kind", "all", "--min-size", "5") == ["link"])
            #expect(try desk.run("find", "--name", "two", "-0").hasSuffix("two.SHAPE\0"))
            // As any program asks.
            let file = desk.volume.root.text + "/.shapeedit/find/name=b.txt&folder=work"
            #expect(try desk.shell("head -n 1 '\(file)'").contains("\"count\": 1}"))
            try desk.fail(66, "find", "none")
            try desk.fail(64, "find", "/etc")
            #expect(try desk.fail(64, "find", "b.txt").contains("it is a file"))
            let queries = desk.volume.root.text + "/.shapeedit/queries"
            for words in [["find"], ["find", "--save", "q"], ["watch"]] {
                let refused = try desk.shapeedit(words + [queries])
                #expect(refused.status == 64, "\(words): \(refused)")
                #expect(refused.errorText.contains("no documents in .shapeedit"), "\(refused)")
            }
            #expect(try desk.shell("ls '\(queries)'") == "")
            try desk.fail(64, "find", "--limit", "0")
            if DataPath.isPrivileged {
                try desk.fail(77, "find", user: nobody)
            }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `sizes have the usual units`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            // Between the two thousands, and above a million.
            try desk.shell("truncate -s 2010 a; truncate -s 2050 b; truncate -s 3000000 c")
            for size in ["2kB", "2000", "2000b", "2KB"] {
                #expect(try Self.found(desk, "--min-size", size) == ["a", "b", "c"], "\(size)")
            }
            for size in ["2k", "2K", "2KiB", "2048", "2048B"] {
                #expect(try Self.found(desk, "--min-size", size) == ["b", "c"], "\(size)")
                #expect(try Self.found(desk, "--max-size", size) == ["a"], "\(size)")
            }
            for size in ["1M", "2MiB", "3MB", "2m"] {
                #expect(try Self.found(desk, "--min-size", size) == ["c"], "\(size)")
            }
            #expect(try Self.found(desk, "--min-size", "1G") == [])
            #expect(try Self.found(desk, "--max-size", "8T") == ["a", "b", "c"])
            for wrong in ["", "k", "5x", "5kk", "5 k", "1.5k", "0x10", "9000000T", "5bi"] {
                #expect(
                    try desk.fail(64, "find", "--min-size", wrong).contains("--min-size"),
                    "\(wrong)")
            }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a folder of many is gone through while it changes`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("for n in $(seq 1000); do : > stays$n; done")
            let writer = try RunningProgram(
                ["sh", "-c", "for n in $(seq 1000); do mv stays$n moved$n; done"]
                    .map { Array($0.utf8) }, directory: desk.folder)
            var looks = 0
            var moved = 0
            /// How many have their new names.
            func countMoved() -> Int {
                while access(desk.path("moved\(moved + 1)"), F_OK) == 0 { moved += 1 }
                return moved
            }
            while writer.isRunning {
                let before = countMoved()
                // What stays in the folder is there under one of its names, or was just moved.
                let names = try Self.found(desk)
                let meanwhile = countMoved() - before + 1
                #expect(
                    abs(names.count - 1_000) < max(100, meanwhile + 1),
                    "\(names.count), \(meanwhile) moved meanwhile")
                looks += 1
            }
            #expect(writer.wait().status == 0 && looks > 0)
            #expect(try Self.found(desk, "--name", "moved*").count == 1000)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `results follow what happens`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.shell("for n in 1 2 3 4; do printf $n > file$n.txt; done")
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            let told = folder + "/told"
            let binary = try BuiltPrograms.shapeedit()
            let program = try RunningProgram(
                ["sh", "-c", "exec '\(binary)' find --type txt --watch --json > '\(told)'"]
                    .map { Array($0.utf8) }, directory: desk.folder,
                environment: desk.volume.container?.environment)
            var list: [JSONValue] = []
            var read = 0
            /// Takes over batches until the list is of these, a minute at most.
            func becomes(_ names: [String]) throws -> Bool {
                for _ in 0..<600 {
                    let lines = (desk.bytes(told) ?? []).split(separator: UInt8(ascii: "\n"))
                    for line in lines[read...] { Self.apply(try .read(Array(line)), to: &list) }
                    read = lines.count
                    let now = list.compactMap { $0["path"]?.text }.map {
                        String($0.dropFirst(desk.folder.count + 1))
                    }
                    if now == names { return true }
                    usleep(100_000)
                }
                return false
            }
            #expect(try becomes(["file1.txt", "file2.txt", "file3.txt", "file4.txt"]))
            try desk.shell("rm file2.txt; printf x > file0.txt; printf x > other")
            #expect(try becomes(["file0.txt", "file1.txt", "file3.txt", "file4.txt"]))
            // A move within the list, and out of it.
            try desk.shell("mv file4.txt a.txt; mv file1.txt file1.md; mkdir d; mv file3.txt d")
            #expect(try becomes(["a.txt", "d/file3.txt", "file0.txt"]))
            try desk.shell("printf longer > a.txt")
            for _ in 0..<100 where list.first?["size"] != .number(6) {
                _ = try becomes(["a.txt", "d/file3.txt", "file0.txt"])
                usleep(100_000)
            }
            #expect(list.first?["size"] == .number(6))
            program.kill(signal: SIGINT)
            #expect(program.wait().status == 130)
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `following ends with the mount, and says so`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let container = try #require(desk.volume.container)
            try desk.shell("printf x > file")
            let folder = try TemporaryDirectory.make()
            defer { TemporaryDirectory.remove(folder) }
            let told = folder + "/told"
            let binary = try BuiltPrograms.shapeedit()
            let program = try RunningProgram(
                ["sh", "-c", "exec '\(binary)' find '\(desk.folder)' --watch > '\(told)'"]
                    .map { Array($0.utf8) }, directory: folder, environment: container.environment)
            for _ in 0..<600 where desk.bytes(told)?.isEmpty ?? true { usleep(100_000) }
            try container.unmount()
            let result = program.wait()
            #expect(result.status == 69, "\(result)")
            let reason = "the mount went away: the mount's daemon closed the connection"
            #expect(result.errorText == "shapeedit: \(container.mountPoint): \(reason)\n")
            try container.mount()
        }
    }

    /// Does with a list what a batch says.
    private static func apply(_ batch: JSONValue, to list: inout [JSONValue]) {
        func index(_ value: JSONValue?) -> Int {
            if case .number(let number)? = value { Int(number) } else { -1 }
        }
        let moves = (batch["moved"]?.elements ?? []).map { (index($0["from"]), index($0["to"])) }
        let before = list
        let going = (batch["removed"]?.elements ?? []).map { index($0) } + moves.map(\.0)
        for place in going.sorted().reversed() where list.indices.contains(place) {
            list.remove(at: place)
        }
        let coming =
            (batch["added"]?.elements ?? []).map { (index($0["index"]), $0["result"] ?? .null) }
            + moves.map { ($0.1, before[$0.0]) }
        for (place, element) in coming.sorted(by: { $0.0 < $1.0 }) {
            list.insert(element, at: min(place, list.count))
        }
        for update in batch["updated"]?.elements ?? [] {
            list[index(update["index"])] = update["result"] ?? .null
        }
    }
}
