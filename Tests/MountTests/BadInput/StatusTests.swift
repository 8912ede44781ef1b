import Glibc
import TestSupport
import Testing

/// `shapeedit status` of one folder, for scripts that want to know of it and nothing else.
@Suite(.oneAtATime) struct StatusTests {
    @Test func `the status of a folder is about its mount only`() throws {
        try withBrokenContainer { first in
            try withBrokenContainer { second in
                let (one, other) = (first.container, second.container)
                try one.mount()
                try other.mount()
                try #require(mkdir("\(one.mountPoint)/inside", 0o755) == 0)
                for place in [one.mountPoint, "\(one.mountPoint)/", "\(one.mountPoint)/inside"] {
                    let words = try one.command("status", place)
                    #expect(words.status == 0, "\(words)")
                    #expect(words.text.hasPrefix("\(one.mountPoint): container test, "))
                    #expect(!words.text.contains(other.mountPoint))
                    let json = try one.command("status", place, "--json").text
                    #expect(json.contains("\"mountPoint\": \"\(one.mountPoint)\""))
                    #expect(!json.contains(other.mountPoint))
                }
                let outside = try one.command("status", one.base)
                #expect(outside.status == 64, "\(outside)")
                #expect(outside.errorText.contains("\(one.base): it is not in a mounted container"))
                let missing = try one.command("status", "\(one.base)/nothing")
                #expect(missing.status == 66, "\(missing)")
                // A mount whose daemon is gone is one still.
                let daemon = try #require(one.daemon)
                try #require(kill(pid_t(daemon), SIGKILL) == 0)
                one.waitForEnd(of: daemon)
                let dead = try one.command("status", one.mountPoint)
                #expect(dead.text == "\(one.mountPoint): does not answer\n", "\(dead)")
                try one.unmount()
                try other.unmount()
            }
        }
    }
}
