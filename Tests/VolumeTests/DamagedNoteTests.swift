import Content
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// What was noted of the disk, and is not what was written there.
@Suite struct DamagedNoteTests {
    /// All bits set: the last moment that there is.
    @Test func `a damaged note of what is on the disk gives no version its moment`() throws {
        try InsideContainer.withFolder { path in
            try damage(path) { try $0.save("a", [1]) }
            let report = try ContainerCheck.run("test", at: path)
            #expect(report.findings.count == 1, "\(report.findings)")
            #expect(report.findings.allSatisfy { $0.repaired && $0.problem.contains("/durable ") })
            #expect(try ContainerCheck.run("test", at: path).findings.isEmpty)
            try damage(path) { try $0.save("a", [2]) }
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [3])
            let node = try #require(try container.find("a"))
            let version = try #require(try container.volume.versionRow(node))
            #expect(version.published <= Timestamp(WallClock.now))
            #expect(
                LocalContent(folder: ContainerFolder(path: path)).durableUntil().seconds < 1 << 33)
        }
    }

    /// Uses a container, and damages the note when it is closed.
    private func damage(_ path: String, after body: (InsideContainer) throws -> Void) throws {
        let container = try InsideContainer(path)
        defer { container.close() }
        try body(container)
        container.close()
        let note = try OwnedDescriptor.open(
            ContainerFolder(path: path).durable, O_RDWR | O_CREAT, mode: 0o600)
        try note.write([UInt8](repeating: .max, count: 8), at: 0)
    }
}
