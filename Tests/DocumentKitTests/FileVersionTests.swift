import DocumentKit
import Glibc
import Probing
import TestSupport
import Testing

/// Versions of documents, as apps have them.
@Suite(.oneAtATime) struct FileVersionTests {
    private func texts(_ path: String) throws -> [String] {
        try FileVersion.all(of: path).map { String(decoding: try $0.contents(), as: UTF8.self) }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts)
    func `an app goes back to an earlier version, and back again`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/a.txt"
            try store(path, "one")
            var first = try FileVersion.current(of: path)
            #expect(first.isCurrent && first.size == 3 && first.isLocal && !first.isPinned)
            #expect(first.document == path && first.path == path && first.published == nil)
            try first.pin()
            try store(path, "two and more")
            let all = try FileVersion.all(of: path)
            try #require(all.count == 2)
            #expect(all[0].name == first.name && all[0].isPinned && !all[0].isCurrent)
            #expect(all[0].author == getuid() && all[0].published != nil)
            #expect(all[1] == (try FileVersion.current(of: path)) && all[1].name != first.name)
            // What was current when it was asked for is read from where it is kept now.
            #expect(try texts(path) == ["one", "two and more"])
            #expect(try String(decoding: first.contents(), as: UTF8.self) == "one")

            #expect(try first.restore())
            #expect(try texts(path) == ["one", "two and more", "one"])
            #expect(try !first.restore(), "it is as it was")
            let second = try #require(try FileVersion.all(of: path).dropLast().last)
            #expect(try second.restore())
            #expect(text(of: path) == "two and more")
            // They go with the document; a value says where it was.
            #expect(rename(path, "\(volume.directory)/b.txt") == 0)
            #expect(throws: DocumentProblem.file("\(path): \(String(cString: strerror(ENOENT)))")) {
                try first.contents()
            }
            #expect(throws: (any Error).self) { try first.restore() }
            let moved = "\(volume.directory)/b.txt"
            #expect(try texts(moved).first == "one")
            var kept = try #require(try FileVersion.all(of: moved).first)
            try kept.pin(false)
            #expect(try FileVersion.all(of: moved).allSatisfy { !$0.isPinned })
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `the current version is one that there was, though it is saved by renaming`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/a.txt"
            try store(path, "x")
            // As long as it has versions.
            let saves = """
                for my $save (1 .. 1500) { open my $file, ">", "t"; print $file "x"; close $file; \
                if ($save % 2) { open $file, ">>", "t"; print $file "x"; close $file } \
                rename "t", "a.txt" } open my $file, ">", "end"
                """
            let program = try volume.start(["timeout", "100", "perl", "-e", saves])
            var ordinals: [Int64: Set<Substring>] = [:]
            let limit = time(nil) + 100
            while access("\(volume.directory)/end", F_OK) != 0, time(nil) < limit {
                let version = try FileVersion.current(of: path)
                ordinals[version.size, default: []].insert(version.name.split(separator: "-")[1])
            }
            #expect(program.wait(seconds: 60).status == 0)
            #expect(ordinals.values.allSatisfy { $0.count == 1 }, "\(ordinals)")
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func `a version that was replaced unseen is a conflict until it is resolved`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            let path = "\(volume.directory)/a.txt"
            try store(path, "the first")
            #expect(text(of: path) == "the first")
            #expect(try FileVersion.conflicts(of: path) == [])
            agent.store("a.txt", "theirs")
            try store(path, "ours")
            var conflict = try #require(try FileVersion.conflicts(of: path).first)
            #expect(try String(decoding: conflict.contents(), as: UTF8.self) == "theirs")
            try conflict.restore()
            #expect(text(of: path) == "theirs" && conflict.isConflict)
            try conflict.resolve()
            #expect(try !conflict.isConflict && FileVersion.conflicts(of: path).isEmpty)
            #expect(try texts(path).contains("ours"))
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts.prefix(1))
    func
        `an open document loads what is restored, also over what it had not saved`(
            _ place: DataPath
        ) throws
    {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/a.txt"
            try store(path, "one")
            let first = try FileVersion.current(of: path)
            try store(path, "two")
            let document = Document<Text>(path) { _ in }
            try document.open()
            try first.restore()
            expectSoon { document.contents?.text == "one" }
            try document.change { $0 = Text("three") }
            try FileVersion.all(of: path).first { try $0.contents() == Array("two".utf8) }?
                .restore()
            expectSoon { document.state.contains(.inConflict) }
            try document.resolve(.theirs)
            expectSoon { document.contents?.text == "two" }
            try document.close()
        }
    }

    @Test func `elsewhere a document has its current version only`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/a.txt"
            try store(path, "one")
            try store(path, "two")
            var version = try FileVersion.current(of: path)
            #expect(try FileVersion.all(of: path) == [version] && texts(path) == ["two"])
            #expect(version.name == "" && version.isCurrent && version.size == 3)
            #expect(try FileVersion.conflicts(of: path) == [] && !version.restore())
            let refused = DocumentProblem.file(
                "\(path): it is in no container that keeps versions of it")
            #expect(throws: refused) { try version.pin() }
            #expect(throws: refused) { try version.resolve() }
            #expect(throws: DocumentProblem.self) { try FileVersion.current(of: path + "none") }
            #expect(throws: DocumentProblem.self) { try FileVersion.all(of: volume.directory) }
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"))
    func `a granted document has its current version only`() throws {
        try withVolume(.passthrough) { volume in
            let owner = try #require(volume.container)
            let path = "\(volume.directory)/a.txt"
            try store(path, "one")
            var first = try FileVersion.current(of: path)
            try first.pin()
            try store(path, "two")
            let app = try Container(name: "notes", user: owner.user, dataHome: owner.dataHome)
            defer { app.remove() }
            try app.mount(asApp: true)
            let granting = try app.command("grant", path, "--to", "notes", "--write")
            #expect(granting.status == 0, "\(granting)")
            let granted = "\(app.mountPoint)/in test/a.txt"
            #expect(try texts(granted) == ["two"])
            var version = try FileVersion.current(of: granted)
            #expect(version.name == "" && version.isCurrent && version.path == granted)
            #expect(throws: DocumentProblem.self) { try version.pin() }
            #expect(try !version.restore())
            #expect(try texts(path) == ["one", "two"])
            try app.unmount()
        }
    }
}
