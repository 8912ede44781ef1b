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

    @Test func `what was removed or replaced before its turn does not go to the store`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            let script = """
                import json, os, time
                def save(name, text):
                    with open(name, "w") as file: file.write(text)
                for number in range(20): save(f"gone{number}", f"gone {number}")
                for number in range(20): os.unlink(f"gone{number}")
                for number in range(20):
                    save(".new", f"saved {number}")
                    os.rename(".new", "saved")
                end = time.monotonic() + 60
                while True:
                    with open("../../.shapeedit/status.json") as file: status = json.load(file)
                    if status["notYetDurable"] + status["uploads"] == 0: break
                    assert time.monotonic() < end
                    time.sleep(0.1)
                """
            agent.shell("mkdir d; cd d; python3 - <<'END'\n\(script)\nEND")
            #expect(try volume.blobs().store.count == 1)
            try volume.shapeedit("evict", "@d")
            #expect(agent.content("d/saved") == "saved 19")
        }
    }

    @Test func `what is removed while it goes to the store is not sent to its end`() throws {
        let server = try FaultyServer(.webDAV, name: "removed")
        defer { server.stop() }
        try withVolume(.passthrough, store: server.address) { volume in
            let agent = try volume.agent()
            agent.store("first", "first")
            try volume.settle()
            // All of it takes hours.
            try server.plan("PUT slow")
            agent.shell("head -c 20000000 /dev/urandom > large; sync large")
            agent.shell(Self.wait(until: "grep -q 'PUT slow' '\(server.log)'"))
            try server.plan("PUT none")
            agent.shell("rm large")
            let uploads = "grep -qE '\"uploads\": *0(,|}|$)' ../.shapeedit/status.json"
            agent.shell(Self.wait(until: uploads))
            agent.store("last", "last")
            try volume.settle()
        }
    }

    /// Waits for at most a minute.
    private static func wait(until condition: String) -> String {
        "for i in $(seq 600); do ! \(condition) || exit 0; sleep 0.1; done; exit 1"
    }

    @Test func `a file that gets its first name late goes to the store`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let script = """
                import ctypes, os, time
                file = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
                os.write(file, b"late")
                os.fsync(file)
                time.sleep(7)
                # AT_SYMLINK_FOLLOW, which os.link does not pass on.
                source = f"/proc/self/fd/{file}".encode()
                assert ctypes.CDLL(None).linkat(-100, source, -100, b"late", 0x400) == 0
                os.close(file)
                """
            let agent = try volume.agent()
            agent.shell("python3 - <<'END'\n\(script)\nEND")
            try volume.evictAll()
            #expect(agent.content("late") == "late")
        }
    }
}
