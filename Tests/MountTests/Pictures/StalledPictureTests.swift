import Glibc
import Probing
import TestSupport
import Testing

/// A disk with pictures that does not answer.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct StalledPictureTests {
    /// Another mount whose daemon stands still for a while is such a disk.
    @Test func `nobody waits for the disk where a renamed document's picture is`() throws {
        let disk = try Container(name: "disk")
        defer { disk.remove() }
        try disk.mount()
        let pictures = "\(disk.mountPoint)/pictures"
        try #require(mkdir(pictures, 0o700) == 0)
        try withPictures { (desk) throws in
            try desk.remount {
                let folder = "\(desk.container.folder)/pictures"
                _ = try run(["rm", "-rf", folder])
                try #require(symlink(pictures, folder) == 0)
            }
            desk.agent.store("a.slide", PictureDesk.slide(1))
            desk.agent.store("b.txt", "text")
            #expect(desk.settle("a.slide") == "ready")
            // Memory is to know nothing of the picture.
            try desk.remount()
            let point = desk.container.mountPoint
            let stopped = try #require(disk.daemon)
            kill(pid_t(stopped), SIGSTOP)
            defer { kill(pid_t(stopped), SIGCONT) }
            let answer = "\(desk.container.base)/answer"
            // It asks for what no cache of the kernel has.
            let lines = [
                "exec mv '\(point)/a.slide' '\(point)/c.slide'",
                "sleep 0.3; cat '\(point)/.shapeedit/status.json' > '\(answer)'",
            ]
            let running = try lines.map { line in
                try RunningProgram(["sh", "-c", line].map { Array($0.utf8) })
            }
            defer {
                kill(pid_t(stopped), SIGCONT)
                for program in running { _ = program.wait(seconds: 60) }
            }
            var status = stat()
            var isAnswered = false
            for _ in 0..<1_500 where !isAnswered {
                usleep(10_000)
                isAnswered = stat(answer, &status) == 0 && status.st_size > 0
            }
            #expect(isAnswered)
        }
    }
}
