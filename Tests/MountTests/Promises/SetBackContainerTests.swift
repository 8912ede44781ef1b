import Glibc
import Probing
import TestSupport
import Testing

/// A container's folder that is set back to an older state in its own place, as by a backup, while its store has
/// gone on.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct SetBackContainerTests {
    @Test func `nothing goes that the store has lost since`() throws {
        try withVolume(.passthrough, store: "folder", options: ["store_grace=1"]) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell("echo one > a; echo two > b")
            try volume.settle()
            volume.endAgents()
            try container.unmount()
            let kept = container.folder + ".kept"
            #expect(try run(["cp", "-a", container.folder, kept]).status == 0)
            // What is not needed any more leaves the store.
            try container.mount(options: ["store_grace=1"])
            try volume.remount()
            try volume.agent().shell("rm a")
            try volume.remount()
            try waitUntil(seconds: 60) { try volume.blobs().store.count == 1 }
            volume.endAgents()
            try container.unmount()
            let script = "find . -mindepth 1 -delete && cp -a '\(kept)/.' . && rm -r '\(kept)'"
            let back = try run(["sh", "-c", script], directory: container.folder)
            #expect(back.status == 0, "\(back)")
            // Cleaning would not look through the store soon.
            try container.mount(options: ["store_grace=0"])
            let document = volume.directory + "/a"
            for _ in 0..<3 {
                let refused = try container.command("evict", document)
                #expect(refused.status == 75, "\(refused)")
                let reason = "an older state of it was given back"
                #expect(refused.errorText.contains(reason), "\(refused)")
                sleep(1)
            }
            #expect(try run(["cat", document]).text == "one\n")
            try container.unmount()
            let told = try container.check()
            #expect(told.status == 1 && told.text.contains("goes there again"), "\(told)")
            try volume.remountAfterCrash()
        }
    }

    @Test func `an owner whose store is away at the mount says why nothing goes, then lets it go`()
        throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            try volume.agent().shell("echo one > a")
            try volume.settle()
            volume.endAgents()
            try container.unmount()
            let store = container.storeFolder
            #expect(rename(store, store + ".away") == 0)
            try container.mount()
            let document = volume.directory + "/a"
            let refused = try container.command("evict", document)
            #expect(refused.status == 75, "\(refused)")
            #expect(refused.errorText.contains("has not answered since"), "\(refused)")
            #expect(rename(store + ".away", store) == 0)
            try waitUntil(seconds: 90) { try container.command("evict", document).status == 0 }
            #expect(try run(["cat", document]).text == "one\n")
        }
    }
}
