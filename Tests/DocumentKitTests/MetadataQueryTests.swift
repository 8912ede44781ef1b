import DocumentKit
import Glibc
import Model
import Probing
import SystemCalls
import TestSupport
import Testing

/// Queries of the library, in a mount and on a folder.
@Suite(.oneAtATime) struct MetadataQueryTests {
    /// A list that follows batches as an app's would: by the indices alone.
    private final class Shown: Sendable {
        struct State {
            var names: [String] = []
            var batches = 0
            var isExact = true
            var end: String?
        }
        let state = Lock(State())

        static func name(_ item: FoundItem) -> String {
            String(item.path.split(separator: "/").last ?? "")
        }

        func take(_ update: MetadataUpdate) {
            state.withLock { state in
                switch update {
                case .gathered(let results): state.names = results.map(Self.name)
                case .changed(let change, let results):
                    state.batches += 1
                    let before = state.names
                    let going = change.removed + change.moved.map(\.from)
                    for index in going.sorted().reversed() { state.names.remove(at: index) }
                    let coming =
                        change.added.map { ($0, Self.name(results[$0])) }
                        + change.moved.map { ($0.to, before[$0.from]) }
                    for (index, name) in coming.sorted(by: { $0.0 < $1.0 }) {
                        state.names.insert(name, at: index)
                    }
                    for index in change.updated { state.names[index] = Self.name(results[index]) }
                    if state.names != results.map(Self.name) { state.isExact = false }
                case .ended(let reason): state.end = reason
                }
            }
        }

        func becomes(_ names: String..., at location: SourceLocation = #_sourceLocation) {
            expectSoon("\(state.withLock { $0.names })", at: location) {
                state.withLock { $0.names == names }
            }
            #expect(state.withLock { $0.isExact }, sourceLocation: location)
        }
    }

    @Test(arguments: [true, false])
    func `a query of a folder ends when that is moved or removed`(isMoved: Bool) throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("folder")
            agent.store("folder/file", "x")
            let shown = Shown()
            let query = try MetadataQuery(Query(), below: "\(volume.directory)/folder") {
                shown.take($0)
            }
            try query.start()
            shown.becomes("file")
            if isMoved {
                agent.rename("folder", "elsewhere")
            } else {
                agent.unlink("folder/file")
                agent.removeDirectory("folder")
            }
            expectSoon { shown.state.withLock { $0.end } != nil }
            query.stop()
        }
    }

    @Test(arguments: places)
    func `a symlink is as large as its target is long`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.symlink(to: "somewhere", "link")
            agent.makeDirectory("folder")
            var wanted = Query()
            wanted.kind = .all
            let query = try MetadataQuery(wanted, below: volume.directory)
            try query.start()
            expectSoon("\(query.results)") { query.results.map(\.size) == [0, 9] }
            query.stop()
        }
    }

    @Test(arguments: places)
    func `moments before 1970 are told to the nanosecond`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.store("old", "x")
            agent.setTimes(
                "old", accessed: .unchanged, modified: .at(seconds: -2, nanoseconds: 500_000_000))
            let query = try MetadataQuery(Query(), below: volume.directory)
            try query.start()
            expectSoon("\(query.results)") {
                query.results.map(\.modified) == ["1969-12-31T23:59:58.500000000Z"]
            }
            query.stop()
        }
    }

    @Test func `a query of a folder finds each of the names that look alike`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            agent.store("\u{e9}", "1")
            agent.store("e\u{301}", "12")
            agent.makeDirectory("d")
            agent.store("d/\u{301}", "123")
            agent.store(".\u{301}", "hidden")
            let query = try MetadataQuery(Query(), below: volume.directory)
            try query.start()
            expectSoon("\(query.results)") {
                query.results.filter { !$0.isFolder }.map(\.size).sorted() == [1, 2, 3]
            }
            query.stop()
            // One that gets the other's name is another result.
            agent.unlink("\u{e9}")
            let told = Lock([MetadataUpdate]())
            let live = try MetadataQuery(Query(), below: volume.directory) { update in
                told.withLock { $0.append(update) }
            }
            try live.start()
            expectSoon { told.withLock { $0.count } == 1 }
            agent.rename("e\u{301}", "\u{e9}")
            expectSoon("\(told.withLock { $0 })") {
                guard case .changed(let difference, _) = told.withLock({ $0.last }) else {
                    return false
                }
                return difference.updated.count == 1
            }
            live.stop()
        }
    }

    @Test(arguments: places)
    func `results follow what happens, to the index`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            for number in 1...4 { agent.store(ByteString("file\(number).txt"), "\(number)") }
            agent.store("other.md", "x")
            agent.store(".hidden.txt", "x")
            agent.store(".goutputstream-ABC123", "x")
            agent.makeDirectory("folder")
            let shown = Shown()
            var wanted = Query()
            wanted.types = ["txt"]
            wanted.order = .name
            let query = try MetadataQuery(wanted, below: volume.directory) { shown.take($0) }
            try query.start()
            shown.becomes("file1.txt", "file2.txt", "file3.txt", "file4.txt")
            #expect(query.results.map(\.size) == [1, 1, 1, 1])
            agent.unlink("file2.txt")
            agent.store("file0.txt", "x")
            shown.becomes("file0.txt", "file1.txt", "file3.txt", "file4.txt")
            agent.rename("file4.txt", "a.txt")
            agent.rename("file1.txt", "file1.md")
            agent.rename("file3.txt", "folder/file3.txt")
            shown.becomes("a.txt", "file0.txt", "file3.txt")
            agent.store("a.txt", "longer")
            expectSoon { query.results.first?.size == 6 }
            agent.rename("folder", "moved")
            expectSoon { query.results.last?.path == "\(volume.directory)/moved/file3.txt" }
            shown.becomes("a.txt", "file0.txt", "file3.txt")
            query.stop()
        }
    }

    @Test(arguments: places)
    func `a query of a hidden folder goes on finding what is in it`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory(".hidden")
            agent.store(".hidden/a.txt", "1")
            let shown = Shown()
            let query = try MetadataQuery(Query(), below: "\(volume.directory)/.hidden") {
                shown.take($0)
            }
            try query.start()
            shown.becomes("a.txt")
            agent.store(".hidden/a.txt", "longer")
            expectSoon { query.results.first?.size == 6 }
            // What is hidden below the folder counts no more than elsewhere.
            agent.store(".hidden/.none.txt", "x")
            agent.store(".hidden/b.txt", "x")
            shown.becomes("a.txt", "b.txt")
            query.stop()
        }
    }

    /// Runs `body` with a query that has told of a document, which is all that there is.
    private func withQuery(
        of name: ByteString, _ place: DataPath,
        _ body: (Volume, Agent, Shown, MetadataQuery) throws -> Void
    ) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.store(name, "x")
            let shown = Shown()
            let query = try MetadataQuery(Query(), below: volume.directory) { shown.take($0) }
            try query.start()
            shown.becomes(name.text)
            try body(volume, agent, shown, query)
        }
    }

    @Test(arguments: places)
    func `what happens while updates are disabled is one batch`(_ place: DataPath) throws {
        try withQuery(of: "first", place) { volume, agent, shown, query in
            // What another one of the same folder has noticed, this one has too, a moment later.
            let told = Shown()
            let other = try MetadataQuery(Query(), below: volume.directory) { told.take($0) }
            try other.start()
            told.becomes("first")
            let moment: UInt32 = 200_000
            query.disableUpdates()
            query.disableUpdates()
            agent.store("a", "x")
            told.becomes("a", "first")
            usleep(moment)
            agent.store("b", "x")
            query.enableUpdates()
            told.becomes("a", "b", "first")
            usleep(moment)
            #expect(query.results.count == 1 && shown.state.withLock { $0.batches } == 0)
            agent.unlink("first")
            told.becomes("a", "b")
            usleep(moment)
            query.enableUpdates()
            shown.becomes("a", "b")
            #expect(shown.state.withLock { $0.batches } == 1)
            query.stop()
            other.stop()
        }
    }

    @Test(arguments: places)
    func `a query that was stopped can be started again`(_ place: DataPath) throws {
        try withQuery(of: "first", place) { _, agent, shown, query in
            // Once more is no other: each change is told once.
            try query.start()
            for name in ["a", "b", "c"] {
                query.stop()
                #expect(query.results.map(Shown.name) == shown.state.withLock { $0.names })
                agent.store("\(name)", "x")
                try query.start()
                agent.store("d\(name)", "x")
                expectSoon { query.results.count == shown.state.withLock { $0.names.count } }
            }
            shown.becomes("a", "b", "c", "da", "db", "dc", "first")
            query.stop()
        }
    }

    @Test(arguments: places)
    func `results are those that are asked for`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("d")
            agent.store("d/Ball.shape", "123")
            agent.store("ball two.txt", "1")
            agent.store("long.txt", "1234567")
            agent.store(".hidden", "x")
            func found(_ change: (inout Query) -> Void) throws -> [String] {
                var query = Query()
                change(&query)
                let live = try MetadataQuery(query, below: volume.directory)
                try live.start()
                defer { live.stop() }
                return live.results.map { String($0.path.dropFirst(volume.directory.count + 1)) }
            }
            #expect(try found { _ in } == ["ball two.txt", "d/Ball.shape", "long.txt"])
            #expect(try found { $0.name = "BALL" } == ["ball two.txt", "d/Ball.shape"])
            #expect(try found { $0.name = "b*.shape" } == ["d/Ball.shape"])
            #expect(try found { $0.kind = .folders } == ["d"])
            #expect(try found { $0.smallest = 2 } == ["d/Ball.shape", "long.txt"])
            #expect(
                try found { ($0.order, $0.isReversed, $0.limit) = (.size, true, 1) }
                    == ["long.txt"])
            #expect(try found { $0.hidden = true }.first == ".hidden")
            #expect(throws: DocumentProblem.self) {
                try MetadataQuery(Query(), below: "\(volume.directory)/none")
            }
        }
    }

    /// A server of this test's sends the first results and a batch in one piece.
    @Test(.enabled(if: isInstalled("python3"), "needs python3"))
    func `what changed while the first results were on their way is told`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            let socket = "\(volume.directory)/socket"
            agent.makeDirectory(".shapeedit")
            agent.store(".shapeedit/status.json", ByteString("{\"control\": \"\(socket)\"}"))
            let lines = """
                import json, os, socket, sys
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(sys.argv[1] + ".new")
                listener.listen()
                os.rename(sys.argv[1] + ".new", sys.argv[1])
                client, _ = listener.accept()
                while not client.recv(65536).endswith(b"\\0"):
                    pass
                def result(name):
                    return {
                        "path": name, "item": ord(name), "document": f"{ord(name):016x}",
                        "folder": False, "size": 1, "modified": "2026-11-21T19:45:52.000000000Z",
                        "promise": False}
                def message(**parameters):
                    text = {"parameters": parameters | {"complete": True}, "continues": True}
                    return json.dumps(text).encode() + b"\\0"
                client.sendall(
                    message(results=[result("a")])
                    + message(added=[{"index": 1, "result": result("b")}]))
                client.recv(1)
                """
            let server = try volume.start(["python3", "-c", lines, socket])
            expectSoon { access(socket, F_OK) == 0 }
            let shown = Shown()
            let query = MetadataQuery(Query(), in: volume.directory) { shown.take($0) }
            try query.start()
            shown.becomes("a", "b")
            query.stop()
            server.kill(signal: SIGKILL)
            _ = server.wait(seconds: 10)
        }
    }

    @Test func `a query ends with its mount`() throws {
        try withVolume(.passthrough) { volume in
            let shown = Shown()
            let query = try MetadataQuery(Query(), below: volume.directory) { shown.take($0) }
            try query.start()
            try #require(volume.container).killDaemon()
            expectSoon { shown.state.withLock { $0.end } != nil }
            try volume.remountAfterCrash()
        }
    }
}
