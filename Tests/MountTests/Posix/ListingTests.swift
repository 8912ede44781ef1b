import CKernel
import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct ListingTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `entries carry inode numbers and types`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for kind in FileKind.possible(for: agent) {
                kind.make(ByteString(kind.rawValue), by: agent)
            }
            let entries = agent.entries(".")
            #expect(entries.count == FileKind.possible(for: agent).count)
            for entry in entries {
                let status = agent.status(entry.name, following: false)
                #expect(Int(entry.inode) == status.inode, "\(entry.name)")
                // DT_UNKNOWN is allowed by POSIX, but ext4 knows.
                #expect(Int(entry.kind) == status.kind >> 12, "\(entry.name)")
            }
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `seeking back in a directory shows the same entries again`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for number in 0..<500 { agent.store("file\(number)", "") }
            let directory = agent.open(".", O_RDONLY | O_DIRECTORY)
            var all: [DirectoryEntry] = []
            while true {
                // Small buffers, so that there are many places to stop.
                let some = agent.nextEntries(directory, count: 600)
                if some.isEmpty { break }
                all += some
            }
            #expect(all.count == 502)
            for index in [0, 1, 77, 250, 499, 500] {
                agent.seek(directory, all[index].next)
                var rest: [DirectoryEntry] = []
                while true {
                    let some = agent.nextEntries(directory, count: 4096)
                    if some.isEmpty { break }
                    rest += some
                }
                #expect(rest == Array(all[(index + 1)...]), "from entry \(index)")
            }
            agent.seek(directory, 0)
            #expect(agent.nextEntries(directory, count: 600).first == all[0])
            // A rewound directory shows what is new.
            agent.store("new", "")
            agent.seek(directory, 0)
            var names: Set<ByteString> = []
            while true {
                let some = agent.nextEntries(directory)
                if some.isEmpty { break }
                names.formUnion(some.map(\.name))
            }
            #expect(names.contains("new"))
        }
    }

    /// Names are the same on every data path.
    @Test(arguments: DataPath.posix.prefix(1))
    func `50,000 entries are complete while others come and go`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("big")
            let count = 50_000
            let made = agent.run(
                "python3", "-c",
                """
                import os
                for i in range(\(count)): os.close(os.open(f"big/keep{i:06}", os.O_CREAT|os.O_WRONLY))
                """)
            #expect(made.status == 0, "\(made)")
            let churn = try volume.agent()
            churn.begin(
                "churn",
                .program(
                    [
                        "python3", "-c",
                        """
                        import os, time
                        end = time.time() + 4; n = 0
                        while time.time() < end:
                            p = f"big/temp{n}"; os.close(os.open(p, os.O_CREAT|os.O_WRONLY))
                            os.rename(p, p + "x"); n += 1
                            if n > 50: os.unlink(f"big/temp{n-50}x")
                        """,
                    ].map { Array($0.utf8) }))
            var rounds = 0
            repeat {
                let entries = agent.entries("big", buffer: rounds == 0 ? 2000 : 32 << 10)
                let kept = entries.map(\.name.text).filter { $0.hasPrefix("keep") }
                #expect(kept.count == count, "no entry twice or missing")
                #expect(Set(kept).count == count)
                rounds += 1
            } while !churn.hasFinished(within: 0) && rounds < 50
            #expect(churn.finish(milliseconds: 610_000).result == 0)
            let start = nanosecondsNow()
            agent.shell("ls -lR big | wc -l; find big -name 'keep*' -delete; rm -r big")
            #expect(nanosecondsNow() - start < 300_000_000_000)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `removing all entries while listing removes all`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("dir")
            for number in 0..<2000 { agent.store("dir/\(number)", "") }
            let directory = agent.open("dir", O_RDONLY | O_DIRECTORY)
            var removed = 0
            while true {
                let some = agent.nextEntries(directory, count: 1024)
                if some.isEmpty { break }
                for entry in some where entry.name != "." && entry.name != ".." {
                    agent.unlink("dir/" + entry.name)
                    removed += 1
                }
            }
            #expect(removed == 2000)
            agent.removeDirectory("dir")
        }
    }
}
