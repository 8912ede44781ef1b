import Glibc
import Probing
import TestSupport
import Testing

/// Promises of which the catalog tells in two ways: in the rows of the file and of its version.
@Suite(
    .oneAtATime,
    .enabled(if: !DataPath.isPlain && isInstalled("sqlite3"), "needs sqlite3 and a mount")
)
struct DamagedPromiseTests {
    /// Checks a damaged container while its store is away, and when it is there again: then it is sound.
    private func expectMended(_ container: Container, onlyWith store: String) throws {
        let unasked = try container.check()
        #expect([1, 65].contains(unasked.status), "\(unasked)")
        #expect(rename(store + ".away", store) == 0)
        let asked = try container.check()
        #expect(asked.status == (unasked.status == 1 ? 0 : 1), "\(unasked) \(asked)")
        #expect(try container.check().status == 0)
    }

    @Test(arguments: [
        "version set size = 0", "version set hash = zeroblob(32)", "version set place = 2",
        "version set place = 99, hash = x'01'", "item set size = 7", "item set hash = zeroblob(32)",
        "item set place = 2", "item set place = 0",
    ])
    func `the check believes what the store has`(_ damage: String) throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo content > one")
            try volume.evictAll()
            volume.endAgents()
            try container.unmount()
            let changed = try Probing.run([
                "sqlite3", "\(container.folder)/catalog.sqlite",
                "update \(damage) where hash is not null",
            ])
            try #require(changed.status == 0, "\(changed)")
            let store = container.storeFolder
            #expect(rename(store, store + ".away") == 0)
            try expectMended(container, onlyWith: store)
            try volume.remountAfterCrash()
            #expect(try volume.agent().content("one") == "content\n")
        }
    }

    @Test(arguments: ["-5", "9223372036854775807"])
    func `a size that cannot be ends no mount, and the check takes the store's`(_ size: String)
        throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo content > one; echo second > two")
            agent.shell("cat one; sleep 2.1; echo more > one")
            try volume.evictAll()
            volume.endAgents()
            try container.unmount()
            let changed = try Probing.run([
                "sqlite3", "\(container.folder)/catalog.sqlite",
                """
                create temp table damaged as select item from name where name = cast('one' as blob);
                update item set size = \(size) where id in (select item from damaged);
                update version set size = \(size) where item in (select item from damaged);
                """,
            ])
            try #require(changed.status == 0, "\(changed)")
            try container.mount()
            let process = try #require(try container.status().pid)
            _ = try volume.run("sh", "-c", "cat one; cat .shapeedit/versions/one/*")
            _ = try volume.outcome("materialize", "@one")
            _ = try volume.outcome("evict", "@one")
            #expect(try volume.agent().content("two") == "second\n")
            #expect(Container.isAlive(process), "the daemon died")
            volume.endAgents()
            try container.unmount()
            let moved = try container.command(
                "container", "move-store", container.name, "folder:\(container.base)/home/other")
            #expect(moved.status == Int(EX_UNAVAILABLE), "\(moved)")
            let check = try container.check()
            #expect(check.status == 1 && check.text.contains("one, version"), "\(check)")
            #expect(try container.check().status == 0)
            try container.mount()
            #expect(try volume.agent().content("one") == "more\n")
        }
    }

    @Test(arguments: ["printf X | dd bs=1 conv=notrunc status=none of=", "rm "])
    func `a content that another document has brought to the store is had from there`(
        _ damage: String
    ) throws {
        try withVolume(.passthrough, store: "folder", options: ["store_timeout=1"]) { volume in
            let container = try #require(volume.container)
            try volume.agent().shell("echo content > one; echo first > two")
            try volume.settle()
            let store = container.storeFolder
            #expect(rename(store, store + ".away") == 0)
            try volume.agent().shell("sleep 2.1; cp one two; cp one three; sync two three")
            volume.endAgents()
            try container.unmount()
            let changed = try Probing.run(
                [
                    "sh", "-c",
                    "h=$(printf 'content\\n' | sha256sum | head -c 64); cd $(echo $h | head -c 2)"
                        + " && chmod u+w $h && \(damage)$h",
                ], directory: "\(container.folder)/blobs")
            try #require(changed.status == 0, "\(changed)")
            try expectMended(container, onlyWith: store)
            try container.mount()
            for name: ByteString in ["one", "two", "three"] {
                #expect(try volume.agent().content(name) == "content\n", "\(name)")
            }
        }
    }

    @Test(arguments: [
        ("update origin set content = x'01' where content is not null", true),
        ("update origin set content = zeroblob(32) where content is not null", true),
        ("delete from origin", false), ("delete from source", false),
    ])
    func `the check tells what does not lead to its source any more`(
        _ damage: String, _ isRepaired: Bool
    ) throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let source = container.base + "/source"
            let made = try Probing.run([
                "sh", "-c", "mkdir '\(source)'; echo far > '\(source)/far'",
            ])
            try #require(made.status == 0, "\(made)")
            try volume.agent().makeDirectory("d")
            try volume.shapeedit("import", "--promise", source, "@d")
            volume.endAgents()
            try container.unmount()
            let catalog = "\(container.folder)/catalog.sqlite"
            let whole = container.base + "/whole.sqlite"
            _ = try Probing.run(["cp", catalog, whole])
            let changed = try Probing.run(["sqlite3", catalog, damage])
            try #require(changed.status == 0, "\(changed)")
            let check = try container.check()
            #expect(
                check.status == (isRepaired ? 1 : 65) && check.text.contains("d/far"), "\(check)")
            if !isRepaired { #expect(rename(whole, catalog) == 0) }
            #expect(try container.check().status == 0)
            try volume.remountAfterCrash()
            #expect(try volume.agent().content("d/far") == "far\n")
        }
    }
}
