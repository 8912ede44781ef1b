import Glibc
import SystemCalls
import Testing

@testable import FileSystem

/// A machine on which the name notifier does not get its turn soon.
@Suite struct BusyNotifierTests {
    @Test func `truncate is answered when the kernel has forgotten the file's other names`() throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            let channel = BusyChannel()
            container.volume.channel = channel
            try container.save("a", [1, 2, 3])
            let node = try #require(try container.find("a"))
            try container.link(node, as: "b")
            try container.truncate("a")
            let forgotten = channel.forgotten.withLock { $0 }
            // What is still to be told is told first.
            container.close()
            #expect(forgotten > 0)
            #expect(channel.forgotten.withLock { $0 } == forgotten, "told after the answer")
        }
    }
}

/// A kernel that is told slowly, though it keeps nobody waiting for a lock.
private final class BusyChannel: KernelChannel {
    let forgotten = Lock(0)

    var passesThrough: Bool { false }
    var mapsDirectly: Bool { false }
    func registerBacking(_ descriptor: Int32) -> Int32? { nil }
    func releaseBacking(_ backing: Int32) {}
    func invalidateEntry(parent: UInt64, name: [UInt8]) {
        let end = MonotonicClock.after(milliseconds: 50)
        while MonotonicClock.now < end {}
        forgotten.withLock { $0 += 1 }
    }
    func invalidate(node: UInt64, pages: Bool) {}
    func announceDeletion(parent: UInt64, node: UInt64, name: [UInt8]) {}
}
