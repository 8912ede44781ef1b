import Glibc
import Probing
import TestSupport
import Testing

/// `shapeedit find --text` where the words of documents are missing or damaged.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct MissingWordsTests {
    /// Has another program keep the database of the words of an unmounted container for itself.
    private static func holdWords(of container: Container, seconds: Int) throws {
        let hold = """
            sqlite3 texts.sqlite 'begin exclusive' '.shell touch held; sleep \(seconds)' >&- 2>&- &
            until [ -e held ]; do sleep 0.01; done
            rm held
            """
        try #require(run(["sh", "-ec", hold], directory: container.folder).status == 0)
    }

    /// A container that is not mounted, and knows the words of one document.
    private static func withUnmounted(
        store: String? = nil, _ body: (Desk, Container) throws -> Void
    ) throws {
        try withDesk(.passthrough, store: store) { desk in
            let container = try #require(desk.volume.container)
            try desk.shell("printf 'good words' > a.txt")
            try WordSearch.find(desk, "--text", "words", expecting: ["a.txt"])
            try container.unmount()
            try body(desk, container)
        }
    }

    @Test(.enabled(if: isInstalled("sqlite3"), "sqlite3 is not installed"))
    func `what is let go before its words were read is found by them`() throws {
        try Self.withUnmounted(store: "folder") { desk, container in
            // Nothing is read meanwhile.
            try Self.holdWords(of: container, seconds: 8)
            try container.mount()
            let agent = try desk.volume.agent()
            let large = String(repeating: "word ", count: 100_000)
            try desk.write("other words", to: "b.txt")
            try desk.write("long words " + large, to: "c.txt")
            for name in ["b.txt", "c.txt"] {
                let path = ByteString(name)
                waitUntil { agent.attribute(path, "user.shapeedit.state") != "dirty" }
                _ = try desk.run("evict", name)
                #expect(agent.attribute(path, "user.shapeedit.state") == "promise")
            }
            try WordSearch.find(desk, "--text", "words", expecting: ["a.txt", "b.txt", "c.txt"])
            try WordSearch.find(desk, "--promises", expecting: ["b.txt", "c.txt"])
            // What stayed for that is gone.
            let left = try run(["sh", "-c", "ls reading"], directory: container.folder)
            #expect(left.text.isEmpty, "\(left)")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `what no worker can read is said, and damaged words are made again`(_ place: DataPath)
        throws
    {
        try withDesk(place) { desk in
            let container = try #require(desk.volume.container)
            try desk.shell("printf 'good words' > a.txt; printf '{' > b.shape")
            try WordSearch.find(desk, "--text", "words", expecting: ["a.txt"])
            try container.unmount()
            for end in ["", "-wal", "-shm"] { unlink("\(container.folder)/texts.sqlite\(end)") }
            _ = try Probing.run([
                "sh", "-c", "yes damaged | head -c 9000 > '\(container.folder)/texts.sqlite'",
            ])
            try container.mount()
            try WordSearch.find(desk, "--text", "words", expecting: ["a.txt"])
        }
    }

    @Test(.enabled(if: isInstalled("sqlite3"), "sqlite3 is not installed"))
    func `who searches right after mounting waits until it is known what words are missing`() throws
    {
        try Self.withUnmounted { desk, container in
            try Self.holdWords(of: container, seconds: 1)
            try container.mount()
            // Not nothing, at once.
            try WordSearch.find(desk, "--text", "words", expecting: ["a.txt"])
        }
    }

    @Test(.enabled(if: isInstalled("sqlite3"), "sqlite3 is not installed"))
    func `a search that has waited for words in vain says that some may be missing`() throws {
        try Self.withUnmounted { desk, container in
            try Self.holdWords(of: container, seconds: 8)
            try container.mount()
            let result = try desk.shapeedit(["find", "--text", "words"])
            #expect(result.status == 0 && result.text.isEmpty, "\(result)")
            #expect(result.errorText.contains(WordSearch.hurry), "\(result)")
            // What needs no words misses nothing.
            let named = try desk.shapeedit(["find", "--name", "a.txt"])
            #expect(named.text.contains("a.txt") && named.errorText.isEmpty, "\(named)")
            try WordSearch.find(desk, "--text", "words", expecting: ["a.txt"])
        }
    }

    @Test(
        .enabled(if: isInstalled("sqlite3"), "sqlite3 is not installed"),
        arguments: ["item", "ordinal", "type"])
    func `words that are told to be of a version that cannot be are taken from the documents again`(
        _ column: String
    ) throws {
        try Self.withUnmounted { desk, container in
            let damaged = try run([
                "sqlite3", "\(container.folder)/texts.sqlite",
                "update document set \(column) = -1",
            ])
            try #require(damaged.status == 0, "\(damaged)")
            try container.mount()
            let process = try #require(try container.status().pid)
            try desk.shell("printf 'other words' > b.txt")
            try WordSearch.find(desk, "--text", "words", expecting: ["a.txt", "b.txt"])
            #expect(Container.isAlive(process), "the daemon died")
        }
    }

    @Test(arguments: [true, false])
    func `words whose database is damaged in the middle are taken from the documents again`(
        _ isChecked: Bool
    ) throws {
        try withDesk(.passthrough) { desk in
            let container = try #require(desk.volume.container)
            try desk.shell(
                "for n in $(seq 1000 1300); do echo sheep $(seq $n $((n + 60))) > $n.txt; done")
            let all = (1000...1300).map { "\($0).txt" }
            try WordSearch.find(desk, "--text", "sheep", expecting: all)
            try container.unmount()
            let damage = """
                pages=$(($(stat -c %s texts.sqlite) / 4096))
                for page in $(seq 1 2 $((pages - 1))); do
                    yes x | head -c 4096 | dd of=texts.sqlite bs=4096 seek=$page conv=notrunc
                done
                """
            let damaged = try run(["sh", "-ec", damage], directory: container.folder)
            try #require(damaged.status == 0, "\(damaged)")
            if isChecked {
                let check = try container.check()
                #expect(check.status == 1 && check.text.contains("texts.sqlite was damaged"))
                #expect(try container.check().status == 0)
            }
            try container.mount()
            _ = try desk.shapeedit(["find", "--text", "sheep"])
            try WordSearch.find(desk, "--text", "sheep", expecting: all)
        }
    }
}
