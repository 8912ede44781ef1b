import Catalog
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// Earlier versions while the catalog cannot be asked.
@Suite(.serialized) struct FailedVersionTests {
    @Test func `a version that the catalog does not tell of for a moment is not called gone`()
        throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            for byte in 1...2 as ClosedRange<UInt8> {
                try container.save("a", [byte])
                // Or it is a step of the save after it.
                let node = try #require(try container.find("a"))
                try container.volume.setVersionMark(
                    .pin, node, node.versionName[...], "keep", container.caller)
            }
            container.settle()
            let tree = VirtualTree(container.volume)
            let document = try #require(try container.find("a")).item
            #expect(try tree.row(document, 1).size == 1)
            StatementFaults.arm(after: 1, code: .inputOutput, database: path + "/catalog.sqlite")
            defer { StatementFaults.disarm() }
            #expect(throws: Errno(EIO)) { try tree.row(document, 1) }
            #expect(StatementFaults.left == 0)
            #expect(throws: Errno(ENOENT)) { try tree.row(document, 9) }
        }
    }

    /// What is on the disk and is not known to be would be given up after a loss of power.
    @Test func `fsync of a version fails where the catalog does not tell of it`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [1, 2, 3])
            let node = try #require(try container.find("a"))
            container.beginSealing(node)
            #expect(try container.volume.versionRow(node)?.place == .staged)
            StatementFaults.arm(after: 1, code: .inputOutput, database: path + "/catalog.sqlite")
            defer { StatementFaults.disarm() }
            #expect(throws: Errno(EIO)) { try container.volume.synchronize(node, nil) }
            #expect(StatementFaults.left == 0)
            try container.volume.synchronize(node, nil)
            #expect(try container.volume.versionRow(node)?.place == .durable)
            container.volume.state.withLock { $0.unsealed.publish(node, at: 0) }
            container.settle()
        }
    }
}
