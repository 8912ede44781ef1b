import Catalog
import Content
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// The bytes of what is given up, where something fails at that.
@Suite(.serialized)
struct FailedRemovalTests {
    private static func content(_ version: UInt8) -> [UInt8] {
        Array(repeating: version, count: 5_000)
    }

    private static func hash(_ bytes: [UInt8]) throws -> ContentHash {
        try #require(ContentHash(bytes: try Hashing.sha256(bytes)))
    }

    /// Nothing but a check by hand would find them.
    @Test func `the bytes of a version go though the catalog fails once when they are to`() throws {
        var count = 0
        var consumed = true
        while consumed, count < 200 {
            count += 1
            try InsideContainer.withFolder { path in
                let container = try InsideContainer(path)
                try container.save("a", Self.content(1))
                container.settle()
                let former = ContainerFolder(path: path).blob(try Self.hash(Self.content(1)))
                try #require(access(former, F_OK) == 0)
                let known = try #require(try container.find("a"))
                try container.save("a", Self.content(2), synchronize: true)
                // As the kernel does with a version that nobody has open.
                container.volume.forget(known, 100)
                let catalog = path + "/catalog.sqlite"
                StatementFaults.arm(after: count, code: .inputOutput, database: catalog)
                container.settle()
                consumed = StatementFaults.left == 0
                StatementFaults.disarm()
                container.settle()
                #expect(access(former, F_OK) != 0, "step \(count) failed")
                container.close()
            }
        }
        #expect(count > 5, "removing has only \(count) steps")
    }

    @Test func `a content that has another name is not emptied for an open that failed`() throws {
        try InsideContainer.withFolder { path in
            let folder = ContainerFolder(path: path)
            try folder.make(isNew: true)
            let content = LocalContent(folder: folder)
            let bytes = Self.content(1)
            let hash = try Self.hash(bytes)
            for call in 1...3 {
                let blob = folder.blob(hash)
                try Directories.make(folder.blobs + "/" + hash.description.prefix(2))
                try WholeFile.create(blob, bytes)
                try #require(link(blob, path + "/drawn") == 0)
                FaultInjection.arm(after: call, error: EMFILE)
                content.removeBlob(hash)
                FaultInjection.arm(after: 0, error: 0)
                let drawn = try OwnedDescriptor.open(path + "/drawn", O_RDONLY)
                #expect(try WholeFile.read(drawn) == bytes, "call \(call) failed")
                unlink(path + "/drawn")
                unlink(blob)
            }
        }
    }
}
