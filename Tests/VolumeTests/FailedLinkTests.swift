import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// link(2) that fails.
@Suite struct FailedLinkTests {
    /// The answer has the size of what is staged.
    @Test func `a link whose file cannot be looked at leaves no name`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            let volume = container.volume
            try container.save("a", [1, 2, 3])
            let (node, handle) = try container.open("a")
            let session = try volume.writable(node, handle).session
            volume.wrote(session, handle, by: 0) {}
            let file = volume.content.folder.staging(session.node)
            volume.content.forget(session.node)
            #expect(rename(file, file + ".away") == 0)
            #expect(throws: Errno(EIO)) { try container.link(node, as: "b") }
            #expect(try container.find("b") == nil)
            #expect(rename(file + ".away", file) == 0)
            try volume.flush(node, handle, owner: 0, by: 0) {}
            volume.release(node, handle)
            #expect(try container.read("a") == [])
        }
    }
}
