import DocumentKit
import Glibc
import SystemCalls
import TestSupport
import Testing

/// Presenters of the library, told of what other processes do.
@Suite(.oneAtATime) struct FilePresenterTests {
    @Test func `a presenter saves before others read, under a claim of its own`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/document"
            let agent = try volume.agent()
            agent.store("document", "old")
            let shows = Shows()
            let presentation = try FilePresentation(of: path, shows)
            shows.told.withLock { state in
                state.save = { [weak shows] in
                    do {
                        try FileCoordinator(for: presentation).coordinate(
                            [FileIntent(path, .write)]
                        ) { paths in
                            let file = try OwnedDescriptor.open(paths[0], O_WRONLY | O_TRUNC)
                            try file.write(Array("unsaved".utf8))
                        }
                    } catch {
                        shows?.add("\(error)")
                    }
                }
            }
            let binary = try BuiltPrograms.shapeedit()
            let result = try volume.run(
                binary, "coordinate", "--read", "document", "--", "cat", "document")
            #expect(result.status == 0 && result.text == "unsaved", "\(result)")
            shows.expect("relinquish reader", "save", "resume")
            let deleting = try volume.run(
                binary, "coordinate", "--delete", "document", "--", "rm", "document")
            #expect(deleting.status == 0, "\(deleting)")
            shows.expect("relinquish writer", "deletion document", "deleted", "resume")
            presentation.end()
            shows.expect("ended")
            shows.told.withLock { $0.save = nil }
        }
    }

    /// Takes no further message until it may.
    private final class Stuck: FilePresenter {
        let mayGoOn = Monitor(false)
        func subitemChanged(_ change: SubitemChange) { _ = mayGoOn.wait { $0 ? true : nil } }
    }

    @Test func `who is no presenter any more, and does not know it yet, can claim`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            let stuck = Stuck()
            let presentation = try FilePresentation(of: volume.directory, stuck)
            defer {
                stuck.mayGoOn.signal { $0 = true }
                presentation.end()
            }
            // Each message has the whole path in it: some thousand of them are not kept for it.
            let folder = (0..<12).map { String(repeating: "\($0 % 10)", count: 250) }
            for depth in 1...folder.count {
                agent.makeDirectory("\(folder[..<depth].joined(separator: "/"))")
            }
            let path = folder.joined(separator: "/")
            let status = "\(container.mountPoint)/.shapeedit/status.json"
            for number in 0..<5_000 where text(of: status)?.contains("\"presenters\": 1") == true {
                agent.store("\(path)/\(number)", "")
            }
            #expect(text(of: status)?.contains("\"presenters\": 0") == true)
            let document = "\(volume.directory)/document"
            try FileCoordinator(for: presentation).coordinate([FileIntent(document, .write)]) {
                try store($0[0], "written")
            }
            #expect(agent.content("document") == "written")
        }
    }

    @Test func `a presenter that has answered goes on under the claim that it has`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/document"
            let agent = try volume.agent()
            agent.store("document", "old")
            let (isAsked, mayAnswer) = (Monitor(false), Monitor(false))
            let shows = Shows()
            let presentation = try FilePresentation(of: path, shows)
            defer { presentation.end() }
            shows.told.withLock { state in
                state.save = {
                    isAsked.signal { $0 = true }
                    _ = mayAnswer.wait { $0 ? true : nil }
                }
            }
            let binary = try BuiltPrograms.shapeedit()
            let reader = try volume.start([
                binary, "coordinate", "--read", "document", "--", "cat", "document",
            ])
            _ = isAsked.wait { $0 ? true : nil }
            try FileCoordinator(for: presentation).coordinate([FileIntent(path, .write)]) { paths in
                mayAnswer.signal { $0 = true }
                // From its answer on the reader waits for this claim alone.
                usleep(500_000)
                let file = try OwnedDescriptor.open(paths[0], O_WRONLY | O_TRUNC)
                try file.write(Array("saved".utf8))
            }
            let result = reader.wait(seconds: 30)
            #expect(result.status == 0 && result.text == "saved", "\(result)")
            shows.told.withLock { $0.save = nil }
        }
    }

    @Test func `presenters are told of changes, and of their end`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("document", "x")
            let (item, folder) = (Shows(), Shows())
            let shown = try FilePresentation(of: "\(volume.directory)/document", item)
            let above = try FilePresentation(of: volume.directory, folder)
            agent.store("document", "y")
            item.expect("changed", "version")
            folder.expect("changed document")
            agent.rename("document", "renamed")
            item.expect("moved renamed")
            folder.expect("moved document renamed")
            #expect(shown.path == "\(volume.directory)/renamed")
            agent.makeDirectory("new")
            folder.expect("appeared new")
            agent.removeDirectory("new")
            folder.expect("deleted new")
            try volume.remount()
            item.expect("ended")
            folder.expect("ended")
            #expect(above.path == volume.directory)
        }
    }

    @Test func `who shows an item is told what another part of its program does under a claim`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/document"
            try volume.agent().store("document", "old")
            let shows = Shows()
            let presentation = try FilePresentation(of: path, shows)
            defer { presentation.end() }
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { paths in
                try WholeFile.overwrite(try OwnedDescriptor.open(paths[0], O_WRONLY), with: [1])
                // The version is published a moment after the close: who looks waits for it.
                #expect(try WholeFile.read(try OwnedDescriptor.open(paths[0], O_RDONLY)) == [1])
            }
            shows.expect("relinquish writer", "changed", "version", "resume")
            // What it does itself, it knows.
            try FileCoordinator(for: presentation).coordinate([FileIntent(path, .write)]) { paths in
                try WholeFile.overwrite(try OwnedDescriptor.open(paths[0], O_WRONLY), with: [2])
            }
            try FileCoordinator().coordinate([FileIntent(path, .writeDeleting)]) { paths in
                #expect(unlink(paths[0]) == 0)
            }
            shows.expect("relinquish writer", "deletion document", "deleted", "resume")
        }
    }

    @Test func `who shows what is in a folder that changes places is told it is another`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.shell(
                "mkdir -p one/deep two; for n in one/a two/a one/deep/b; do echo $n > $n; done")
            let shows = ["one/a", "two/a", "one/deep/b", "one"].map { ($0, Shows()) }
            let shown = try shows.map { name, shows in
                try FilePresentation(of: "\(volume.directory)/\(name)", shows)
            }
            agent.rename("one", "two", flags: 2)
            for (_, told) in shows { told.expect("changed") }
            // They stay with their names.
            agent.store("one/a", "other")
            shows[0].1.expect("changed", "version")
            for presentation in shown { presentation.end() }
        }
    }

    @Test func `a package stays where it is when something is moved out of it or into it`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            for name: ByteString in ["note.rtfd", "other.rtfd"] { agent.makeDirectory(name) }
            agent.store("note.rtfd/text", "x")
            agent.store("note.rtfd/picture", "x")
            let (item, folder) = (Shows(), Shows())
            let shown = try FilePresentation(of: "\(volume.directory)/note.rtfd", item)
            let above = try FilePresentation(of: volume.directory, folder)
            agent.rename("note.rtfd/picture", "picture")
            item.expect("changed")
            folder.expect("changed note.rtfd", "appeared picture")
            agent.rename("picture", "note.rtfd/picture")
            item.expect("changed")
            folder.expect("deleted picture", "changed note.rtfd")
            agent.rename("note.rtfd/picture", "other.rtfd/picture")
            item.expect("changed")
            folder.expect("changed note.rtfd", "changed other.rtfd")
            agent.rename("note.rtfd", "moved.rtfd")
            item.expect("moved moved.rtfd")
            folder.expect("moved note.rtfd moved.rtfd")
            #expect(shown.path == "\(volume.directory)/moved.rtfd")
            #expect(above.path == volume.directory)
        }
    }

    @Test func `who presents something in a folder that moves into a package is told where it is`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            for name: ByteString in ["note.rtfd", "folder", "folder/deep"] {
                agent.makeDirectory(name)
            }
            for name: ByteString in ["folder/a", "folder/deep/b", "beside"] {
                agent.store(name, "x")
            }
            let shows = ["folder/a", "folder/deep/b", "folder", "beside"].map { ($0, Shows()) }
            let shown = try shows.map { name, shows in
                try FilePresentation(of: "\(volume.directory)/\(name)", shows)
            }
            agent.rename("folder", "note.rtfd/folder")
            for ((_, told), name) in zip(shows, ["a", "b", "folder"]) {
                told.expect("moved \(name)")
            }
            #expect(shown[1].path == "\(volume.directory)/note.rtfd/folder/deep/b")
            agent.rename("note.rtfd/folder", "note.rtfd/other")
            shows[1].1.expect("moved b")
            agent.rename("note.rtfd/other", "folder")
            shows[1].1.expect("moved b")
            #expect(shown[1].path == "\(volume.directory)/folder/deep/b")
            agent.store("folder/deep/b", "y")
            shows[1].1.expect("changed", "version")
            agent.store("beside", "y")
            shows[3].1.expect("changed", "version")
            for presentation in shown { presentation.end() }
        }
    }

    @Test func `a presenter is told of conflicts and of versions that go`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("document", "1")
            let shows = Shows()
            let shown = try FilePresentation(of: "\(volume.directory)/document", shows)
            let other = try volume.run("sh", "-c", "printf 2 > document")
            #expect(other.status == 0, "\(other)")
            // Puts its content in the place of one that it has not seen.
            agent.store("document", "3")
            shows.expect("changed", "version", "changed", "version", "conflict")
            // Saves in quick succession count as one.
            agent.store("document", "4")
            agent.store("document", "5")
            shows.expect("changed", "version", "changed", "version")
            let lost: Bool? = shows.losses.wait(
                until: MonotonicClock.after(milliseconds: 30_000)
            ) { $0 > 0 ? true : nil }
            #expect(lost == true)
            shown.end()
            shows.expect("ended")
        }
    }

    @Test func `a presenter of a granted document is told what its owner does`() throws {
        try withVolume(.passthrough) { volume in
            let owner = try #require(volume.container)
            let agent = try volume.agent()
            for name: ByteString in ["document", "secret"] { agent.store(name, "x") }
            let app = try Container(name: "notes", user: owner.user, dataHome: owner.dataHome)
            defer { app.remove() }
            try app.mount(asApp: true)
            let granting = try app.command("grant", "\(volume.directory)/document", "--to", "notes")
            #expect(granting.status == 0, "\(granting)")
            let (item, folder) = (Shows(), Shows())
            let shown = try FilePresentation(of: "\(app.mountPoint)/in test/document", item)
            let above = try FilePresentation(of: app.mountPoint, folder)
            // Of what was not granted nobody is told.
            agent.store("secret", "y")
            agent.store("document", "longer")
            item.expect("changed")
            folder.expect("changed document")
            agent.rename("document", "renamed")
            item.expect("moved renamed")
            folder.expect("moved document renamed")
            #expect(shown.path == "\(app.mountPoint)/in test/renamed")
            let revoking = try app.command("revoke", "\(volume.directory)/renamed")
            #expect(revoking.status == 0, "\(revoking)")
            item.expect("deleted")
            folder.expect("deleted renamed")
            shown.end()
            above.end()
            item.expect("ended")
            folder.expect("ended")
            try app.unmount()
        }
    }
}
