import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// Renames that the kernel has allowed by names that an import has led elsewhere meanwhile.
@Suite struct StaleNameTests {
    @Test func `no folder gets into itself, whatever the kernel takes for its place`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            let (one, other) = (
                try container.makeFolder("one"), try container.makeFolder("other")
            )
            let below = try container.makeFolder("below", in: one)
            // As an import moves it: the kernel takes it for one that is at the root.
            try container.rename("one", to: "one", in: other)
            for flags: UInt32 in [0, 1, 2] {
                #expect(throws: Errno(ESTALE)) {
                    try container.rename("other", to: flags == 2 ? "below" : "new", in: one, flags)
                }
            }
            #expect(throws: Errno(ESTALE)) { try container.rename("other", to: "new", in: below) }
            #expect(throws: Errno(ESTALE)) { try container.rename("other", to: "new", in: other) }
            #expect(try container.find("other") == other)
            #expect(try container.find("one", in: other) == one)
        }
    }

    @Test func `a file that is there is opened, though the kernel takes its name for a free one`()
        throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [1])
            #expect(throws: Errno(ESTALE)) { try container.make("a", O_WRONLY | O_TRUNC) }
            // The kernel does not look a second time.
            #expect(try container.open("a", O_WRONLY, by: getpid()) == 0)
            #expect(throws: Errno(EEXIST)) { try container.make("a", O_WRONLY | O_EXCL) }
            #expect(try container.read("a") == [1])
        }
    }

    @Test func `what the kernel takes along from a name of before is forgotten by the new one`()
        throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path, hasSources: true)
            defer { container.close() }
            let channel = ToldNames()
            container.volume.channel = channel
            let folder = try container.makeFolder("in")
            var stale = Volume.Stale()
            func tell(_ fields: String...) throws(Errno) {
                try container.volume.takeImport(
                    folder, fields.flatMap { Array($0.utf8) + [0] }, container.caller, &stale)
            }
            func show(_ token: String, _ files: [(name: String, identity: String)]) throws(Errno) {
                try tell("begin", token, token == "1" ? "import" : "refresh", "folder:/nowhere")
                for (name, identity) in files {
                    try tell(
                        "entries", token, "f", name, identity, identity, "1", "", "0", "420", "")
                }
                try tell("end", token)
            }
            try show("1", [("a", "first"), ("b", "second")])
            container.volume.forget(stale) {}
            stale = Volume.Stale()
            let second = try #require(try container.find("b", in: folder))
            try show("2", [("a", "second"), ("b", "first")])
            #expect(try container.find("a", in: folder) == second)
            channel.settle(container.volume)
            channel.names.withLock { $0 = [] }

            // The kernel has not been told of that yet.
            try container.rename("a", to: "c", from: folder)
            try container.rename("c", to: "d", from: folder)
            channel.settle(container.volume)
            #expect(channel.names.withLock { $0 } == ["c"])

            let isTold = Monitor(false)
            container.volume.forget(stale) { isTold.signal { $0 = true } }
            #expect(
                isTold.wait(until: MonotonicClock.after(milliseconds: 5_000)) { $0 ? true : nil }
                    == true)
            channel.names.withLock { $0 = [] }
            try container.rename("b", to: "e", from: folder)
            channel.settle(container.volume)
            #expect(channel.names.withLock { $0 } == [])
        }
    }
}

/// A kernel that notes which names it is to forget.
private final class ToldNames: KernelChannel {
    let names = Lock<[String]>([])

    var passesThrough: Bool { false }
    var mapsDirectly: Bool { false }
    func registerBacking(_ descriptor: Int32) -> Int32? { nil }
    func releaseBacking(_ backing: Int32) {}
    func invalidateEntry(parent: UInt64, name: [UInt8]) {
        names.withLock { $0.append(String(decoding: name, as: UTF8.self)) }
    }
    func invalidate(node: UInt64, pages: Bool) {}
    func announceDeletion(parent: UInt64, node: UInt64, name: [UInt8]) {}

    /// Returns when all was told that there was to tell.
    func settle(_ volume: Volume) {
        let isDone = Monitor(false)
        volume.nameNotifier.post { isDone.signal { $0 = true } }
        let _: Bool? = isDone.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0 ? true : nil
        }
    }
}
