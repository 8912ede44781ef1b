import Glibc
import Probing
import TestSupport
import Testing

/// A container to whose store another has come.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct OtherContainerTests {
    private func status(_ container: Container) throws -> String {
        try run(["cat", container.mountPoint + "/.shapeedit/status.json"]).text
    }

    @Test
    func `that another container is given time to notice this one is told for no longer`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            try volume.agent().shell("echo one > a")
            try volume.settle()
            volume.endAgents()
            try container.unmount()
            let script = "for f in *-owner; do chmod u+w $f; printf shared > $f; done"
            let joins = try run(
                ["sh", "-c", script], directory: container.storeFolder + "/pictures/00")
            #expect(joins.status == 0, "\(joins)")
            try container.mount()
            let words = "it has two minutes to notice this one"
            try waitUntil { try status(container).contains(words) }
            #expect(try status(container).contains(words))
            try container.unmount()
            // Nearly all of the time passes while it is not mounted.
            let note = container.folder + "/store-owner"
            let passes =
                "s/(noticed\\t.*\\t)([0-9]+)-([0-9]+)$/echo \"\\1$((\\2-117))-$((\\3-117))\"/e"
            let passed = try run(["sed", "-E", "-i", passes, note])
            #expect(passed.status == 0, "\(passed)")
            try container.mount()
            // When nothing has to be compared any more either.
            let document = volume.directory + "/a"
            try waitUntil(seconds: 60) { try container.command("evict", document).status == 0 }
            let told = try status(container)
            #expect(!told.isEmpty && !told.contains(words), "\(told)")
            #expect(try run(["cat", document]).text == "one\n")
        }
    }
}
