import Glibc
import TestSupport
import Testing

/// When what was saved goes to the store.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct UploadTimeTests {
    @Test
    func `a document goes to the store soon after its save, while others are saved all the time`()
        throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("saved", "once")
            for half in 0..<60 where try volume.state("saved") == "dirty" {
                agent.store("other", ByteString("\(half)"))
                usleep(500_000)
            }
            #expect(try volume.state("saved") == "local")
            try volume.shapeedit("evict", "@saved")
            #expect(agent.content("saved") == "once")
        }
    }
}
