import Glibc
import Probing
import TestSupport
import Testing

/// What is deleted leaves nothing behind in the container's folder.
@Suite(.oneAtATime)
struct LeftoverTests {
    /// How many contents there are.
    private func contents(_ broken: BrokenContainer) throws -> Int {
        let found = try run(
            ["find", "blobs", "staging", "-type", "f"], directory: broken.folder)
        return found.text.split(separator: "\n").count
    }

    @Test func `a deleted document and its deleted backup leave nothing behind`() throws {
        try withBrokenContainer { broken in
            let before = try contents(broken)
            try broken.whileMounted { agent in
                for number in 0..<8 { agent.store("x\(number)", "first \(number)") }
            }
            try broken.whileMounted { agent in
                for number in 0..<8 {
                    agent.rename("x\(number)", "x\(number)~")
                    agent.store("x\(number)", "second \(number)")
                }
            }
            #expect(try contents(broken) == before + 16)
            try broken.whileMounted { agent in
                for number in 0..<8 {
                    agent.unlink("x\(number)")
                    agent.unlink("x\(number)~")
                }
            }
            #expect(try contents(broken) == before)
            let check = try broken.container.check()
            #expect(check.status == 0, "\(check)")
            #expect(check.text.contains("7 items, 5 versions"), "\(check)")
        }
    }

    @Test func `a backup outlives its document, and its document it`() throws {
        try withBrokenContainer { broken in
            try broken.whileMounted { agent in
                agent.store("x", "first x")
                agent.store("y", "first y")
            }
            try broken.whileMounted { agent in
                for name: ByteString in ["x", "y"] {
                    agent.rename(name, name + "~")
                    agent.store(name, "second")
                }
            }
            try broken.whileMounted { agent in
                agent.unlink("x")
                agent.unlink("y~")
            }
            #expect(try broken.container.check().status == 0)
            try broken.whileMounted { agent in
                #expect(agent.content("x~") == "first x")
                #expect(agent.content("y") == "second")
            }
        }
    }

    @Test func `a backup whose document is gone after a crash has its own history`() throws {
        try withBrokenContainer { broken in
            try broken.whileMounted { agent in
                agent.store("x", "first")
                agent.store("y", "y")
            }
            try broken.whileMounted { agent in
                agent.rename("x", "x~")
                agent.store("x", "second")
            }
            try broken.crash { agent in
                agent.unlink("y")
                agent.rename("x", "y")
                // What was acknowledged before it is in the journal with it.
                agent.store("last", "last")
            }
            try broken.whileMounted { agent in
                // Saves less than two seconds apart count as one.
                usleep(2_060_000)
                agent.store("x~", "third")
                #expect(agent.shell("cat .shapeedit/versions/x~/*") == "first")
            }
            let check = try broken.container.check()
            #expect(check.status == 0, "\(check)")
        }
    }

    @Test func `what was deleted before a crash leaves nothing behind`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let before = try contents(broken)
            try broken.whileMounted { agent in
                for number in 0..<3 {
                    // Saves less than two seconds apart count as one.
                    if number > 0 { usleep(2_060_000) }
                    agent.store("temp", "saved \(number)")
                    agent.rename("temp", "document")
                }
            }
            #expect(try contents(broken) == before + 3)
            try container.mount()
            let agent = try Agent(in: container.mountPoint)
            let open = agent.open("open", O_CREAT | O_RDWR, mode: 0o600)
            agent.write(open, "synchronized and unlinked")
            agent.synchronize(open)
            agent.unlink("open")
            agent.store("closed", ByteString(repeating: "x", count: 400_000))
            agent.unlink("closed")
            agent.unlink("document")
            // What was acknowledged before it is in the journal with it.
            agent.store("last", "last")
            try container.killDaemon()
            agent.end()
            try broken.whileMounted { agent in #expect(agent.content("last") == "last") }
            #expect(try contents(broken) == before + 1)
            let check = try container.check()
            #expect(check.status == 0, "\(check)")
            #expect(check.text.contains("8 items, 6 versions"), "\(check)")
        }
    }

    /// What is compared with a large content is made before that is uploaded, which takes a while.
    @Test func `digests that a crash has left unfinished are no damage, and go with the content`()
        throws
    {
        try withBrokenContainer { broken in
            try broken.damage(
                "h=$(printf \"a's only content\" | sha256sum | head -c 64); mkdir -p digests; "
                    + "printf half > digests/$h.map")
            let check = try broken.container.check()
            #expect(check.status == 0, "\(check)")
            try broken.whileMounted { agent in agent.unlink("a") }
            let left = try run(["ls", "digests"], directory: broken.folder)
            #expect(left.text == "", "\(left)")
        }
    }

    @Test func `a deleted container leaves no states of its documents to undo to`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount()
            let plain = "\(container.base)/home"
            for folder in [container.mountPoint, plain] {
                for words in [["new", "s.shape"], ["title", "s.shape", "secret"]] {
                    var words = words
                    words[1] = "\(folder)/\(words[1])"
                    let result = try container.command(words)
                    try #require(result.status == 0, "\(result)")
                }
            }
            try container.unmount()
            let states = ["grep", "-rl", "secret", "\(container.base)/home/state"]
            #expect(try run(states).text.split(separator: "\n").count > 1)
            let result = try container.command("container", "delete", "--force", "test")
            #expect(result.status == 0, "\(result)")
            // Those of the document outside stay.
            let left = try run(states).text.split(separator: "\n")
            #expect(!left.isEmpty && left.allSatisfy { $0.contains("/history/file-") }, "\(left)")
            let undone = try container.command("undo", "\(plain)/s.shape")
            #expect(undone.status == 0, "\(undone)")
        }
    }

    /// What was left could not be deleted by any command.
    @Test func `a container whose making was cut off is deleted as a whole`() throws {
        try withBrokenContainer { broken in
            try broken.damage(
                "rm -rf blobs packs staging; mv catalog.sqlite catalog.sqlite.new; "
                    + "touch catalog.sqlite.new-wal catalog.sqlite.new-shm")
            let result = try broken.container.command("container", "delete", "--force", "test")
            #expect(result.status == 0 && result.errorText == "", "\(result)")
            #expect(access(broken.folder, F_OK) != 0)
        }
    }

    @Test(arguments: [
        ("sqlite3 catalog.sqlite 'PRAGMA user_version = 9999'", "newer ShapeEdit"),
        ("head -c 64K /dev/urandom > catalog.sqlite", "catalog.sqlite"),
    ])
    func `who deletes a container that cannot be read is told so`(_ damage: String, _ told: String)
        throws
    {
        try withBrokenContainer { broken in
            try broken.damage(damage)
            let result = try broken.container.command("container", "delete", "--force", "test")
            #expect(result.status == 0, "\(result)")
            #expect(result.errorText.contains(told), "\(result)")
            #expect(access(broken.folder, F_OK) != 0)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `a container whose deletion was cut off shows no half of its documents`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try broken.whileMounted { agent in
                for number in 1...9 { agent.store("doc\(number)", "content \(number)") }
            }
            // What stops it, wherever it has come to in the folder, and has the name of something of its own.
            try broken.damage("mkdir -p packs/7; touch packs/7/file; chattr +i packs/7")
            let cutOff = try container.command("container", "delete", "--force", "test")
            #expect(cutOff.status == EX_IOERR, "\(cutOff)")
            try broken.expectNobodyOpens(status: EX_DATAERR, saying: "catalog.sqlite")
            try broken.damage("chattr -i packs/7")
            let again = try container.command("container", "delete", "--force", "test")
            #expect(again.status == 0, "\(again)")
            #expect(access(broken.folder, F_OK) != 0)
        }
    }
}
