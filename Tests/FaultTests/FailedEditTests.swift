import Glibc
import Probing
import TestSupport
import Testing

/// Edits, undo and redo that cannot be published because the disk is full.
@Suite(.oneAtATime, .enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)))
struct FailedEditTests {
    @Test(arguments: DataPath.mounts.prefix(1))
    func `what could not be saved on a full disk is no state to go back to`(
        _ dataPath: DataPath
    ) throws {
        let (disk, container) = try smallContainer(dataPath)
        defer {
            container.remove()
            disk.remove()
        }
        let file = "\(container.mountPoint)/a.shape"
        func states() throws -> [Substring] {
            let listed = try container.command("history", file)
            #expect(listed.status == 0, "\(listed)")
            // Without the times.
            return listed.text.split(separator: "\n").map { $0.prefix(2) + $0.dropFirst(28) }
        }
        func title() throws -> String { try container.command("get", file, "title").text }
        func steps(_ words: [[String]], to status: Int32) throws {
            for words in words {
                let step = try container.command(words)
                #expect(step.status == Int(status), "\(words): \(step)")
            }
        }

        try steps(
            [
                ["new", file], ["set", file, "title=one"], ["set", file, "title=two"],
                ["undo", file],
            ], to: 0)
        let before = try states()
        let shown = try title()
        try fill(disk)
        try steps(
            [["undo", file], ["redo", file]].shuffled() + [["redo", file], ["undo", file]],
            to: EX_IOERR)
        #expect(try states() == before)
        #expect(try title() == shown)
        try steps([["add", file, "cube"], ["set", file, "title=three"]], to: EX_IOERR)

        _ = try run(["sh", "-c", "rm '\(disk.mountPoint)'/filling*"])
        try steps([["undo", file]], to: 0)
        #expect(!(try title().contains("one")))
        #expect(try container.command("show", file).text.contains("Cube") == false)
        try steps([["redo", file]], to: 0)
        #expect(try title() == shown)
        try container.unmount()
        #expect(try container.check().status == 0)
    }

    private func fill(_ disk: SmallDisk) throws {
        for block in ["64k", "4k", "512"] {
            _ = try run([
                "dd", "if=/dev/zero", "of=\(disk.mountPoint)/filling\(block)", "bs=\(block)",
            ])
        }
    }
}
