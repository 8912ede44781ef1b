import Glibc
import Probing
import TestSupport
import Testing

/// Which version of a granted document an app reads.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedVersionTests {
    private static let document: ByteString = "in test/a.txt"

    @Test(arguments: DataPath.mounts)
    func `who has a document open stays with its version, however it is read`(
        _ place: DataPath
    ) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            let writer = try both.appAgent()
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let out = there.open("out", O_RDWR | O_CREAT)
            let saves: [(ByteString) -> Void] = [
                { here.store("a.txt", $0) },
                {
                    here.store("a.tmp", $0)
                    here.rename("a.tmp", "a.txt")
                },
                { writer.store(Self.document, $0) },
                {
                    writer.store("in test/a.txt.tmp", $0)
                    writer.rename("in test/a.txt.tmp", Self.document)
                },
                { writer.truncate(Self.document, size: $0.count) },
            ]
            for (number, save) in saves.enumerated() {
                here.store("a.txt", "one")
                let old = there.open(Self.document, O_RDONLY)
                let mapping = there.map(old, length: 3, writable: false, shared: false)
                save("twelve bytes")
                let new = there.open(Self.document, O_RDONLY)
                // Both by the kernel's page cache, the later version first.
                #expect(there.sendFile(from: new, to: out, count: 100) == 12, "\(number)")
                #expect(there.sendFile(from: old, to: out, count: 100) == 3, "\(number)")
                #expect(there.memory(mapping, count: 3) == "one", "\(number)")
                #expect(there.status(old).size == 3 && there.status(new).size == 12)
                #expect(there.status(old).inode == there.status(Self.document).inode)
                there.unmap(mapping)
                there.close(old)
                there.close(new)
            }
            // Who writes sees it, also by a descriptor that is opened anew by /proc.
            let file = there.open(Self.document, O_RDONLY)
            let again = there.open("/proc/self/fd/\(file.number)", O_WRONLY)
            there.truncate(again, size: 0)
            there.write(again, "four")
            #expect(there.content(Self.document) == "four")
            there.close(again)
            #expect(here.content("a.txt") == "four")
            there.close(file)
        }
    }

    @Test(arguments: [O_WRONLY | O_TRUNC, O_RDWR | O_TRUNC])
    func `what an app replaces as a whole and has not seen is a conflict version`(
        _ flags: Int32
    ) throws {
        try withOwnerAndApp(.passthrough) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            #expect(there.content(Self.document) == "one")
            here.store("a.txt", "two")
            let file = there.open(Self.document, flags)
            there.write(file, "three")
            there.close(file)
            #expect(here.content("a.txt") == "three")
            #expect(here.attribute("a.txt", "user.shapeedit.conflicts") != "")
        }
    }

    @Test func `what an app has opened to read, and emptied, is empty when it is closed`() throws {
        try withOwnerAndApp(.passthrough) { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            for _ in 0..<40 {
                here.store("a.txt", "one")
                there.close(there.open(Self.document, O_RDONLY | O_TRUNC))
                #expect(here.content("a.txt") == "")
            }
        }
    }

    @Test(arguments: [O_TRUNC, O_WRONLY | O_TRUNC, O_RDWR | O_TRUNC])
    func `a promise that an app empties is not fetched for that`(_ flags: Int32) throws {
        try withOwnerAndApp(.passthrough, store: "folder") { both in
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            try both.owner.evictAll()
            let store = try both.ownerContainer.storeFolder
            let there = try both.appAgent()
            #expect(rename(store, store + ".away") == 0)
            #expect(there.attribute(Self.document, "user.shapeedit.state") == "promise")
            there.close(there.open(Self.document, flags))
            #expect(there.content(Self.document) == "")
            #expect(rename(store + ".away", store) == 0)
        }
    }
}
