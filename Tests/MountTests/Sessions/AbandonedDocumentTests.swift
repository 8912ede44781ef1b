import Glibc
import TestSupport
import Testing

/// A file with a history that is renamed to where another document was becomes that document.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct AbandonedDocumentTests {
    /// How the daemon ends afterwards.
    enum Ending: CaseIterable { case unmount, kill }

    @Test(arguments: Ending.allCases, ["a name of several", "a name that went"])
    func `what it was leaves no versions behind`(_ ending: Ending, _ target: String) throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.store("document", "one")
            // Saves less than two seconds apart count as one.
            usleep(2_060_000)
            agent.store("document.new", "two")
            agent.rename("document.new", "document")
            // The file that the first version was written by is gone for good.
            try volume.remount()
            let again = try volume.agent()
            again.store("target", "other")
            if target == "a name of several" {
                again.link("target", "second")
            } else {
                again.unlink("target")
            }
            again.rename("document", "target")
            #expect(again.content("target") == "two")
            again.shell("sync target")
            volume.endAgents()
            if ending == .kill {
                try container.killDaemon()
                try volume.remountAfterCrash()
            }
            try container.unmount()
            let told = try container.check()
            #expect(told.status == 0, "\(told)")
            try volume.remountAfterCrash()
            #expect(try volume.agent().content("target") == "two")
        }
    }
}
