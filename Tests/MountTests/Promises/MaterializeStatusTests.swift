import Glibc
import Probing
import TestSupport
import Testing

/// Scripts can tell by the exit code why contents did not come.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct MaterializeStatusTests {
    @Test func `materialize ends with a code for what the server did, and says it`() throws {
        let server = try FaultyServer(.webDAV, name: "materialize-status")
        defer { server.stop() }
        try withVolume(.passthrough, store: server.address, options: ["store_timeout=2"]) {
            volume in
            let agent = try volume.agent()
            agent.store("doc", "what is in the store")
            try volume.evictAll()
            for (fault, status, kind, word) in [
                ("status=403", EX_NOPERM, "denied", "403"),
                ("status=404", EX_DATAERR, "lost", "404"),
                ("wrong", EX_DATAERR, "damaged", "other bytes"),
                ("status=500", EX_UNAVAILABLE, "unavailable", "500"),
                ("reset", EX_UNAVAILABLE, "unavailable", "127.0.0.1"),
            ] {
                try server.plan("GET \(fault)", "HEAD \(fault)")
                let failed = try volume.shapeedit("materialize", "@doc", fails: status)
                #expect(failed.errorText.contains("doc: "), "\(fault): \(failed)")
                #expect(failed.errorText.contains(word), "\(fault): \(failed)")
                let told = try volume.run(
                    "getfattr", "--only-values", "-n", "user.shapeedit.error.kind", "doc")
                #expect(told.text == kind, "\(fault): \(told)")
            }
            try server.plan()
            try volume.shapeedit("materialize", "@doc")
            #expect(agent.content("doc") == "what is in the store")
            let none = try volume.run("getfattr", "-n", "user.shapeedit.error.kind", "doc")
            #expect(none.status != 0, "\(none)")
        }
    }
}
