import Content
import Coordination
import Glibc
import SystemCalls
import Testing

/// What is in a container's folder and is not its own.
@Suite struct ForeignNameTests {
    @Test func `a file whose name only looks like one of ours is named and left alone`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            try container.save("a", [1])
            container.close()
            let hash = String(repeating: "AB", count: 32)
            let folders = ["blobs/+a", "blobs/AB"]
            let names = [
                "staging/00000010000000AB", "staging/+00000100000000a", "incoming/\(hash)",
                "digests/\(hash)", "spare/+5", "packs/05",
            ]
            for name in folders { try Directories.make("\(path)/\(name)") }
            for name in names {
                _ = try OwnedDescriptor.open("\(path)/\(name)", O_RDWR | O_CREAT, mode: 0o600)
            }
            let problems = try ContainerCheck.run("test", at: path).findings.map(\.problem)
            #expect(problems.count == names.count + folders.count, "\(problems)")
            for name in names + folders {
                #expect(access("\(path)/\(name)", F_OK) == 0, "\(name)")
                #expect(problems.contains { $0.contains("/\(name) does not belong") }, "\(name)")
            }
        }
    }
}
