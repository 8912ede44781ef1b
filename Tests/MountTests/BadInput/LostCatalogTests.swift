import Glibc
import Probing
import TestSupport
import Testing

/// What acknowledged changes are in, broken by hand.
@Suite(.oneAtATime) struct LostCatalogTests {
    @Test func `a damaged journal is said, and nothing is lost behind it in silence`() throws {
        try withBrokenContainer { broken in
            try broken.crash { agent in
                for number in 1...40 { agent.store("new\(number)", "acknowledged") }
            }
            // In the middle of the records: what follows can be read.
            try broken.damage(
                """
                cp -a journal ../journal.whole
                at=$(grep -abo new20 journal/0 | head -1 | cut -d: -f1)
                printf X | dd of=journal/0 bs=1 seek=$at conv=notrunc status=none
                """)
            try broken.expectNobodyOpens(status: EX_DATAERR, saying: "journal/0 is damaged")
            try broken.damage("rm -r journal; mv ../journal.whole journal")
            try broken.whileMounted { agent in
                for number in 1...40 { #expect(agent.content("new\(number)") == "acknowledged") }
            }
        }
    }

    @Test func `a journal that is far too large is read as far as one goes`() throws {
        try withBrokenContainer { broken in
            try broken.crash { agent in agent.store("new", "acknowledged") }
            try broken.damage("truncate -s 1T journal/0 journal/1")
            #expect(try broken.container.check().status == 0)
            for _ in 1...2 {
                try broken.whileMounted { agent in #expect(agent.content("new") == "acknowledged") }
            }
        }
    }

    @Test(arguments: [false, true])
    func `a journal that reached the disk with a gap is no damage afterwards`(checked: Bool) throws
    {
        try withBrokenContainer { broken in
            try broken.crash { agent in
                for number in 1...40 { agent.store("new\(number)", "acknowledged") }
            }
            // As a loss of power may leave it: records stand behind a place that was not written.
            try broken.damage(
                """
                at=$(grep -abo new20 journal/0 | head -1 | cut -d: -f1)
                head -c 64 /dev/zero | dd of=journal/0 bs=1 seek=$at conv=notrunc status=none
                sqlite3 catalog.sqlite "update meta set value = 'another' where key = 'boot'"
                """)
            if checked { _ = try broken.container.check() }
            for number in 1...3 {
                try broken.whileMounted { agent in
                    #expect(agent.content("a") == "a's only content")
                    agent.store("later\(number)", "saved")
                }
            }
            #expect(try broken.container.check().status == 0)
            // Also where nothing was closed.
            try broken.crash { agent in agent.store("last", "acknowledged") }
            try broken.whileMounted { agent in
                for number in 1...3 { #expect(agent.content("later\(number)") == "saved") }
                #expect(agent.content("last") == "acknowledged")
            }
        }
    }

    @Test(arguments: ["rm journal/0", "truncate -s 100 journal/0"])
    func `a journal that is cut off or gone after a crash is said`(_ damage: String) throws {
        try withBrokenContainer { broken in
            // A container that was closed needs none.
            try broken.damage(damage)
            try broken.crash { agent in agent.store("new", "acknowledged") }
            try broken.damage("cp -a journal ../journal.whole; \(damage)")
            try broken.expectNobodyOpens(
                status: EX_DATAERR, saying: "journal/0 is missing or cut off")
            try broken.damage("rm -r journal; mv ../journal.whole journal")
            try broken.whileMounted { agent in #expect(agent.content("new") == "acknowledged") }
        }
    }

    @Test(
        arguments: [
            // All of it, by zeros or by anything else.
            "head -c 16M /dev/zero | tee journal/0 >journal/1",
            "head -c 1M /dev/urandom | dd of=journal/0 conv=notrunc status=none",
            // What was acknowledged last.
            "at=$(grep -abo new40 journal/0 | tail -1 | cut -d: -f1); "
                + "printf X | dd of=journal/0 bs=1 seek=$at conv=notrunc status=none",
        ])
    func `a journal that was overwritten after a crash is said`(_ damage: String) throws {
        try withBrokenContainer { broken in
            try broken.crash { agent in
                agent.store("new", "acknowledged")
                for number in 1...40 { agent.makeDirectory("new\(number)") }
            }
            try broken.damage("cp -a journal ../journal.whole; \(damage)")
            try broken.expectNobodyOpens(
                status: EX_DATAERR, saying: "journal is damaged: ", " at its end cannot be read")
            try broken.damage("rm -r journal; mv ../journal.whole journal")
            try broken.whileMounted { agent in
                #expect(agent.content("new") == "acknowledged")
                for number in 1...40 { #expect(agent.status("new\(number)").isDirectory) }
            }
            // What is missing after a power loss no damage did.
            try broken.crash { agent in agent.store("later", "acknowledged") }
            try broken.damage(
                """
                head -c 16M /dev/zero | tee journal/0 >journal/1
                sqlite3 catalog.sqlite "update meta set value = 'another' where key = 'boot'"
                """)
            for number in 1...2 {
                try broken.crash { agent in agent.store("again\(number)", "acknowledged") }
            }
            try broken.whileMounted { agent in
                for number in 1...2 { #expect(agent.content("again\(number)") == "acknowledged") }
            }
        }
    }

    @Test func `a journal that was removed after a crash is said`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            // After an unmount nothing that counts is in it.
            try broken.damage("rm -r journal")
            #expect(try container.check().status == 0)
            for checked in [true, false] {
                try broken.crash { agent in agent.store("new", "acknowledged") }
                try broken.damage("rm -r journal")
                if checked {
                    let check = try container.check()
                    #expect(check.status == Int(EX_DATAERR), "\(check)")
                    #expect(check.text.contains("journal was missing"), "\(check)")
                    #expect(try container.check().status == 0)
                } else {
                    let mount = try container.command("mount", "test", container.mountPoint)
                    #expect(mount.status == 0, "\(mount)")
                    #expect(mount.errorText.contains("journal was missing"), "\(mount)")
                    let after = try Agent(in: container.mountPoint)
                    #expect(after.content("a") == "a's only content")
                    after.end()
                    try container.unmount()
                }
            }
        }
    }

    @Test func `contents of changes that went with a removed journal are kept`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            for round in 1...2 {
                try broken.crash { agent in
                    agent.store("small", ByteString("saved in round \(round)"))
                    agent.store("large", ByteString(repeating: "y", count: 300_000 + round))
                    agent.store("a", ByteString("changed in round \(round)"))
                }
                // What SQLite took from the journal already is in its log.
                try broken.damage("rm -rf journal catalog.sqlite-wal catalog.sqlite-shm")
            }
            let check = try container.check()
            #expect(check.status == Int(EX_DATAERR) && check.text.contains("/lost"), "\(check)")
            // The second round gave the numbers of the first again.
            for round in 1...2 {
                try broken.damage(
                    """
                    grep -qx 'saved in round \(round)' lost/*
                    grep -qx 'changed in round \(round)' lost/*
                    find lost -size \(300_000 + round)c | grep -q .
                    """)
            }
            #expect(try container.check().status == 0)
            try broken.whileMounted { agent in #expect(agent.content("a") == "a's only content") }
        }
    }

    @Test func `the journal has what a removed log of SQLite had`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try broken.crash { agent in
                for number in 1...40 { agent.store("new\(number)", "acknowledged") }
            }
            try broken.damage("rm -f catalog.sqlite-wal catalog.sqlite-shm")
            #expect(try container.check().status == 0)
            try broken.whileMounted { agent in
                for number in 1...40 { #expect(agent.content("new\(number)") == "acknowledged") }
            }
        }
    }

    @Test(.enabled(if: isInstalled("sqlite3"), "needs sqlite3"))
    func `a document whose item is missing comes back from its version`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try broken.damage(
                """
                sqlite3 catalog.sqlite "delete from item where id =
                    (select item from name where cast(name as text) = 'a')"
                """)
            let check = try container.check()
            #expect(check.status == 1 && check.text.contains("a: its item was missing"), "\(check)")
            #expect(try container.check().status == 0)
            try broken.whileMounted { agent in
                #expect(agent.content("a") == "a's only content")
                #expect(agent.status("a").permissions == 0o600)
            }
        }
    }

    @Test func `no container is made over the contents of another`() throws {
        try withBrokenContainer { broken in
            try broken.damage("mkdir ../kept; mv catalog.sqlite* ../kept; rm -r journal")
            try broken.expectRefusal(
                "container", "create", "test", status: EX_DATAERR, saying: "catalog.sqlite",
                "backup")
            // Nor is it said that there is none.
            let point = broken.container.mountPoint
            for words in [["mount", "test", point], ["container", "info", "test"]] {
                let refused = try broken.container.command(words)
                #expect(refused.status == Int(EX_DATAERR), "\(refused)")
                #expect(refused.errorText.contains("catalog.sqlite is missing"), "\(refused)")
            }
            try broken.damage("mv ../kept/* .")
            #expect(try broken.container.check().status == 0)
            // What a creation left that was cut off is no obstacle.
            try broken.damage("rm -r ./*; mkdir blobs staging journal")
            let made = try broken.container.command("container", "create", "test")
            #expect(made.status == 0, "\(made)")
        }
    }

    /// It was left out, as if there was nothing to look after.
    @Test func `a container that cannot be used is listed, and what is wrong with it said`() throws
    {
        try withBrokenContainer { broken in
            try broken.damage(
                """
                cp -a . ../other; mkdir ../photos; echo mine > ../photos/a; echo > ../file
                ln -s /nowhere/container ../unplugged; rm catalog.sqlite
                """)
            for (option, names) in [
                ([], "other\ntest\nunplugged\n"),
                (["--json"], "[\"other\", \"test\", \"unplugged\"]\n"),
            ] {
                let listed = try broken.container.command(["container", "list"] + option)
                #expect(listed.status == 0 && listed.text == names, "\(listed)")
                for said in ["test has contents", "catalog.sqlite is missing", "/nowhere"] {
                    #expect(listed.errorText.contains(said), "\(listed)")
                }
                #expect(listed.errorText.split(separator: "\n").count == 2, "\(listed)")
            }
            let point = broken.container.mountPoint
            for words in [
                ["mount", "unplugged", point], ["container", "info", "unplugged"],
                ["container", "check", "unplugged"],
                ["container", "move-store", "unplugged", "none"],
                ["container", "create", "unplugged"],
            ] {
                let refused = try broken.container.command(words)
                #expect(refused.status == Int(EX_NOINPUT), "\(words): \(refused)")
                #expect(refused.errorText.contains("mount the disk"), "\(words): \(refused)")
            }
            // What takes room is behind the link.
            try broken.damage("ln -s other ../linked")
            let sizes = try ["other", "linked"].map { name in
                try broken.container.command("container", "info", name).text
                    .split(separator: ",").last
            }
            #expect(sizes[0] == sizes[1], "\(sizes)")
        }
    }
}
