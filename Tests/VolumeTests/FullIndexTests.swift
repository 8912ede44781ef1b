import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// What happens where the address space that the system allows is too small for a container.
@Suite struct FullIndexTests {
    /// What it answers; 0 if it does it.
    private func code(_ body: () throws(Errno) -> Void) -> Int32 {
        do throws(Errno) { try body() } catch { return error.code }
        return 0
    }

    @Test func `names that have no room are refused, and others go on, can be renamed and removed`()
        throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path, capacity: 512)
            try container.save("document", Array("text".utf8))
            let node = try #require(try container.find("document"))
            var made = 0
            var refusal: Int32 = 0
            while refusal == 0, made < 1_000 {
                refusal = code { () throws(Errno) in try container.link(node, as: "name \(made)") }
                if refusal == 0 { made += 1 }
            }
            #expect(refusal == ENOSPC)
            #expect((300..<512).contains(made))
            #expect(code { () throws(Errno) in try container.makeFolder("folder") } == ENOSPC)
            #expect(code { () throws(Errno) in _ = try container.open("another") } == ENOSPC)
            try container.rename("name 0", to: "other name")
            try container.remove("name 1")
            try container.link(node, as: "name 1")
            #expect(try container.read("other name") == Array("text".utf8))
            container.close()
            let again = try InsideContainer(path, capacity: 512)
            #expect(try again.read("name 1") == Array("text".utf8))
            again.close()
        }
    }

    @Test
    func `where items have no room, those that there are get names, and it can be opened again`()
        throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path, capacity: 512, items: 64)
            try container.save("document", Array("text".utf8))
            let node = try #require(try container.find("document"))
            var made = 0
            while made < 100, code({ () throws(Errno) in try container.makeFolder("\(made)") }) == 0
            {
                made += 1
            }
            #expect((32..<64).contains(made))
            #expect(code { () throws(Errno) in try container.save("new", []) } == ENOSPC)
            try container.rename("0", to: "other name")
            try container.link(node, as: "second name")
            container.close()
            let again = try InsideContainer(path, capacity: 512, items: 64)
            #expect(try again.read("second name") == Array("text".utf8))
            #expect(try again.find("other name") != nil)
            again.close()
        }
    }

    @Test func `a refresh changes and moves what is there where nothing new has room`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path, hasSources: true, capacity: 512, items: 64)
            defer { container.close() }
            let folder = try container.makeFolder("in")
            func tell(_ fields: [String]) -> Int32 {
                var stale = Volume.Stale()
                let message = fields.flatMap { field -> [UInt8] in Array(field.utf8) + [0] }
                return code { () throws(Errno) in
                    try container.volume.takeImport(folder, message, container.caller, &stale)
                }
            }
            func file(_ name: String, _ identity: String, _ size: Int) -> [String] {
                ["f", name, identity, "tag \(size)", "\(size)", "", "0", "420", ""]
            }
            func show(_ token: String, _ files: [String]...) -> Int32 {
                files.map { tell(["entries", token] + $0) }.first { $0 != 0 }
                    ?? tell(["end", token])
            }
            #expect(tell(["begin", "1", "import", "folder:/nonexistent"]) == 0)
            #expect(show("1", file("a", "first", 1), file("b", "second", 2)) == 0)
            let before = try container.find("a", in: folder)
            var made = 0
            while code({ () throws(Errno) in try container.makeFolder("\(made)") }) == 0 {
                made += 1
            }
            #expect(tell(["begin", "2", "refresh", "folder:/nonexistent"]) == 0)
            #expect(show("2", file("c", "first", 1), file("b", "second", 5)) == 0)
            #expect(try container.find("c", in: folder)?.item == before?.item)
            #expect(try container.find("a", in: folder) == nil)
            #expect(tell(["begin", "3", "refresh", "folder:/nonexistent"]) == 0)
            #expect(show("3", file("d", "third", 1)) == ENOSPC)
        }
    }

    @Test func `a container that has no room is not opened, and the error says why`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            for number in 0..<200 { try container.makeFolder("folder \(number)") }
            container.close()
            let error = #expect(throws: Failure.self) {
                _ = try InsideContainer(path, capacity: 128)
            }
            #expect(error?.kind == .system)
            #expect(error?.message.contains("not enough address space") == true)
            let whole = try InsideContainer(path)
            #expect(try whole.find("folder 199") != nil)
            whole.close()
        }
    }
}
