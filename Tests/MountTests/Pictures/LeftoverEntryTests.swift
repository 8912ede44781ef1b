import Glibc
import Probing
import TestSupport
import Testing

/// Entries of the desktop's cache that earlier mounts have left.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct LeftoverEntryTests {
    /// Stores slides and waits for their entries.
    private func fill(_ desk: PictureDesk, _ names: [String]) throws {
        for (number, name) in names.enumerated() {
            desk.agent.store(ByteString(name), PictureDesk.slide(number))
            desk.settle(name)
        }
        try #require(try waitUntil { try desk.entries().count == 4 * names.count })
    }

    @Test func `where a container was mounted before its documents have no entries any more`()
        throws
    {
        try withPictures { (desk) throws in
            try fill(desk, ["a.slide", "b.slide"])
            desk.agent.end()
            try desk.container.unmount()
            let other = "\(desk.container.base)/home/other"
            mkdir(other, 0o755)
            let mounted = try desk.container.command(
                "mount", desk.container.name, other, "-o", "no_passthrough")
            #expect(mounted.status == 0, "\(mounted)")
            defer { MountTable.detach(other) }
            #expect(try waitUntil { try desk.entries().isEmpty })
            unlink("\(other)/a.slide")
            _ = try run(["ls", other])
            #expect(try waitUntil { try desk.entries().count == 4 })
            #expect(try desk.container.command("unmount", other).status == 0)
            try desk.mount()
            #expect(try waitUntil { try desk.entries().isEmpty })
        }
    }

    @Test func `what was removed while the cache was left alone has no entries at the next mount`()
        throws
    {
        try withPictures { (desk) throws in
            try fill(desk, ["a.slide", "b.slide"])
            desk.agent.end()
            try desk.container.unmount()
            let point = desk.container.mountPoint
            let mounted = try desk.container.command(
                "mount", "--no-desktop-thumbnails", desk.container.name, point)
            #expect(mounted.status == 0, "\(mounted)")
            unlink("\(point)/a.slide")
            #expect(try desk.container.command("unmount", point).status == 0)
            #expect(try desk.entries().count == 8)
            try desk.mount()
            #expect(try waitUntil { try desk.entries().count == 4 })
        }
    }

    @Test func `with a container its documents' entries go, and no others`() throws {
        let other = try Container(name: "other")
        defer { other.remove() }
        try withPictures { (desk) throws in
            try fill(desk, ["a.slide"])
            other.additionalEnvironment["XDG_CACHE_HOME"] = "\(desk.container.base)/home/cache"
            try other.mount()
            try PictureDesk.write(
                PictureDesk.slide(2).bytes, to: "\(other.mountPoint)/b.slide")
            #expect(try waitUntil { try desk.entries().count == 8 })
            try other.unmount()
            #expect(try other.command("container", "delete", "--force", "other").status == 0)
            #expect(try desk.entries().count == 4)
        }
    }

    @Test func `an entry that a crash left under a former name goes`() throws {
        try withPictures { (desk) throws in
            try fill(desk, ["a.slide"])
            let entries = try desk.entries()
            desk.agent.end()
            try desk.container.killDaemon()
            // It has its new address, and not its name of that yet.
            let left = "\(desk.cache)/large/\(String(repeating: "e", count: 32)).png"
            _ = try run(["cp", try #require(entries.first { $0.contains("/large/") }), left])
            try desk.mount()
            #expect(waitUntil { access(left, F_OK) != 0 })
            #expect(try desk.entries() == entries)
        }
    }

    @Test func `a search after a crash reads no pictures, and removes what was half written`()
        throws
    {
        try withPictures { (desk) throws in
            try fill(desk, ["a.slide"])
            let daemon = try #require(desk.container.daemon)
            desk.agent.end()
            try desk.container.killDaemon()
            // Large ones of others, without anything in them.
            let digits = String(repeating: "e", count: 30)
            for number in 10..<74 {
                let path = "\(desk.cache)/normal/\(digits)\(number).png"
                try PictureDesk.write([], to: path)
                try #require(truncate(path, 4 << 20) == 0)
            }
            let (left, written) = (
                "\(desk.cache)/large/\(digits)00.png.\(daemon)-7",
                "\(desk.cache)/large/\(digits)00.png.\(getpid())-7"
            )
            try PictureDesk.write([1], to: left)
            try PictureDesk.write([1], to: written)
            try desk.mount()
            #expect(waitUntil { access(left, F_OK) != 0 })
            #expect(access(written, F_OK) == 0)
            #expect(try desk.entries().count == 4 + 64)
            let told = try PictureDesk.read("/proc/\(desk.container.daemon ?? 0)/io")
            let bytes = String(decoding: told, as: UTF8.self).split(separator: "\n").first
                .flatMap { Int($0.drop { !$0.isNumber }) }
            #expect(try #require(bytes) < 64 << 20)
        }
    }
}
