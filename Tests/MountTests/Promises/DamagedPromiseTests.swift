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
            let unasked = try container.check()
            #expect([1, 65].contains(unasked.status), "\(unasked)")
            #expect(rename(store + ".away", store) == 0)
            let asked = try container.check()
            #expect(asked.status == (unasked.status == 1 ? 0 : 1), "\(unasked) \(asked)")
            #expect(try container.check().status == 0)
            try volume.remountAfterCrash()
            #expect(try volume.agent().content("one") == "content\n")
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
