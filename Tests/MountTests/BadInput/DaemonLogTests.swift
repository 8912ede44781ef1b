import Glibc
import Probing
import TestSupport
import Testing

/// What a daemon in the background has to say.
@Suite(.oneAtATime) struct DaemonLogTests {
    private func wait(_ what: String, _ condition: () throws -> Bool) throws {
        for _ in 0..<1200 {
            if try condition() { return }
            usleep(50_000)
        }
        Issue.record("\(what): it does not come")
    }

    private func log(_ container: Container, _ name: String = "log") throws -> String {
        try run(["cat", "\(container.folder)/\(name)"]).text
    }

    @Test func `a daemon in the background says what fails in a log that the status names`() throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let path = "\(container.folder)/log"
            #expect(try container.command("status").text.contains("\n  log: \(path)\n"))
            let process = try #require(container.status().pid)
            // So that what ends it is there, too.
            let errors = try run(["readlink", "/proc/\(process)/fd/2"]).text
            #expect(errors == "\(path)\n")
            let store = container.storeFolder
            #expect(rename(store, store + ".away") == 0)
            try volume.agent().shell("echo lost > doc; sync doc")
            try wait("the failure is told") { try log(container).contains("was not uploaded") }
            #expect(rename(store + ".away", store) == 0)
            volume.endAgents()
            try container.unmount()
            let lines = try log(container).split(separator: "\n")
            #expect(
                lines.first?.contains("shows \(container.name) at \(container.mountPoint)") == true)
            #expect(lines.last?.contains("process \(process) has ended") == true)
            #expect(try run(["stat", "-c", "%a", path]).text == "600\n")
            try container.mount()
        }
    }

    @Test func `a daemon goes on in the log of the next one, and puts it in the place of none`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let path = "\(container.folder)/log"
            let next = """
                head -c 1048576 /dev/zero | tr '\\0' a >> '\(path)'
                mv '\(path)' '\(path).old'; echo next > '\(path)'
                """
            _ = try run(["sh", "-c", next])
            try container.unmount()
            let now = try log(container)
            #expect(now.hasPrefix("next\n") && now.contains(" has ended"))
            #expect(try log(container, "log.old").hasSuffix("aaaa"))
            try container.mount()
        }
    }

    @Test func `a log that has grown large is begun anew, and the one before is kept`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            try container.unmount()
            let path = "\(container.folder)/log"
            for filler in ["a", "b"] {
                let line = "head -c 1048576 /dev/zero | tr '\\0' \(filler) > '\(path)'"
                _ = try run(["sh", "-c", line])
                try container.mount()
                try container.unmount()
                let (now, before) = (try log(container), try log(container, "log.old"))
                #expect(now.contains(" has ended") && now.utf8.count < 1_000)
                #expect(before.hasPrefix("\(filler)\(filler)") && before.utf8.count == 1_048_576)
            }
            try container.mount()
        }
    }
}
