import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// Second names of contents that are drawn.
@Suite struct SecondNamesTests {
    private static func makeFolder() throws -> String {
        var template = Array("/tmp/shapeedit-test-drawing.XXXXXX".utf8CString)
        return try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    @Test func `what only waits to be drawn goes when room is needed, what is drawn stays`() throws
    {
        let folder = try Self.makeFolder()
        defer { try? Directories.removeTree(folder) }
        let names = folder + "/drawing"
        let contents = SecondNames(folder: names)
        let nodes = (1...3).map { NodeNumber(rawValue: UInt64($0)) }
        let (waiting, drawn, shared) = (nodes[0], nodes[1], nodes[2])
        for node in nodes {
            let file = folder + "/" + node.fileName
            close(creat(file, 0o600))
            #expect(contents.keep(node, file, bytes: node == shared ? 0 : 10))
        }
        #expect(contents.take(drawn) != nil)
        #expect(contents.bytes == 20)
        // Nothing has waited for long.
        #expect(!contents.dropWaiting(all: false))
        #expect(nodes.allSatisfy { contents.holds($0) })
        #expect(contents.dropWaiting(all: true))
        #expect(nodes.filter { contents.holds($0) } == [drawn])
        #expect(contents.bytes == 10)
        #expect(try Directories.names(in: names) == [drawn.fileName])
        // There is no more to gain, and of what others need as well there never was.
        #expect(!contents.dropWaiting(all: true))
        #expect(contents.keep(shared, folder + "/" + shared.fileName, bytes: 0))
        #expect(!contents.dropWaiting(all: true))
        contents.drop(drawn)
        #expect(contents.bytes == 0)
        #expect(try Directories.names(in: names) == [])
        // The contents themselves are others' matter.
        #expect(access(folder + "/" + waiting.fileName, F_OK) == 0)
    }

    @Test func `what waited when the daemon died waits on, or goes`() throws {
        let folder = try Self.makeFolder()
        defer { try? Directories.removeTree(folder) }
        let names = folder + "/drawing"
        let nodes = (1...2).map { NodeNumber(rawValue: UInt64($0)) }
        let former = SecondNames(folder: names)
        for node in nodes {
            let file = folder + "/" + node.fileName
            let descriptor = creat(file, 0o600)
            ftruncate(descriptor, 10)
            close(descriptor)
            #expect(former.keep(node, file, bytes: 10))
        }
        // Nothing else needs the first one by now.
        unlink(folder + "/" + nodes[0].fileName)
        close(creat(names + "/odd", 0o600))
        let contents = SecondNames(folder: names, goesOn: true)
        #expect(nodes.allSatisfy { contents.holds($0) })
        #expect(contents.bytes == 10)
        #expect(contents.take(nodes[0]) == names + "/" + nodes[0].fileName)
        contents.drop(nodes[0])
        #expect(contents.bytes == 0)
        #expect(!SecondNames(folder: names).holds(nodes[1]))
        #expect(access(names, F_OK) != 0)
    }
}
