import Glibc
import Probing
import TestSupport
import Testing

/// Who is told that a container is unmounted may take its disk out.
@Suite(.oneAtATime, .enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)))
struct ReleasedDiskTests {
    /// Threads of the daemon went on closing files when its first one had ended.
    @Test func `when an unmount has ended nothing of the disk is in use`() throws {
        let disk = try SmallDisk(mebibytes: 64)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint)
        defer { container.remove() }
        for round in 0..<12 {
            try container.mount()
            let agent = try Agent(in: container.mountPoint)
            agent.store("document.txt", "round \(round)")
            agent.end()
            // No file is open for writing, or this is refused.
            let line = "\"$0\" unmount \"$1\" && exec mount -o remount,ro \"$2\""
            let released = try run(
                [
                    "sh", "-c", line, try BuiltPrograms.shapeedit(), container.mountPoint,
                    disk.mountPoint,
                ], environment: container.environment)
            #expect(released.status == 0, "round \(round): \(released)")
            let writable = try run(["mount", "-o", "remount,rw", disk.mountPoint])
            try #require(writable.status == 0, "\(writable)")
        }
    }
}
