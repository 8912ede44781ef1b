import DocumentKit
import Glibc
import SystemCalls
import TestSupport
import Testing

/// Presenters outside of containers, told by inotify of what other processes do.
@Suite(.oneAtATime) struct FolderPresenterTests {
    @Test func `a file is followed through saves, moves and deletion`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            agent.store("document", "x")
            agent.makeDirectory("folder")
            let shows = Shows()
            let presentation = try FilePresentation(of: "\(volume.directory)/document", shows)
            agent.store("document", "longer")
            shows.expect("changed")
            // As most editors save.
            agent.store(".new", "saved")
            agent.rename(".new", "document")
            shows.expect("changed")
            // With a backup, as vim does; from here, as the name is to be missing for no longer
            // than a program needs.
            agent.store(".new", "saved with a backup")
            let path = "\(volume.directory)/document"
            #expect(rename(path, path + "~") == 0)
            #expect(rename("\(volume.directory)/.new", path) == 0)
            agent.unlink("document~")
            shows.expect("changed")
            agent.rename("document", "folder/renamed")
            shows.expect("moved renamed")
            agent.rename("folder", "other")
            shows.expect("moved renamed")
            #expect(presentation.path == "\(volume.directory)/other/renamed")
            agent.store("other/renamed", "y")
            shows.expect("changed")
            agent.store("other/written", "before")
            agent.unlink("other/renamed")
            shows.expect("deleted")
            agent.store("other/renamed", "again")
            shows.expect("changed")
            // By a link to a file that was written before.
            agent.unlink("other/renamed")
            shows.expect("deleted")
            agent.link("other/written", "other/renamed")
            shows.expect("changed")
            presentation.end()
            shows.expect("ended")
        }
    }

    @Test func `a file that is saved by renaming right after it was moved is followed`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            agent.store("document", "x")
            agent.makeDirectory("folder")
            agent.store(".new", "saved")
            let shows = Shows()
            let path = "\(volume.directory)/folder/moved"
            let presentation = try FilePresentation(of: "\(volume.directory)/document", shows)
            // From here, so that it is before anybody has looked where the file went.
            #expect(rename("\(volume.directory)/document", path) == 0)
            #expect(rename("\(volume.directory)/.new", path) == 0)
            shows.expect("moved moved", "changed")
            #expect(presentation.path == path)
            agent.store("folder/moved", "longer")
            shows.expect("changed")
            agent.unlink("folder/moved")
            shows.expect("deleted")
            presentation.end()
        }
    }

    @Test func `what is below a folder is told, also in new and moved folders`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            let path = "\(volume.directory)/shown"
            agent.makeDirectory("shown")
            agent.makeDirectory("shown/a")
            let shows = Shows()
            let presentation = try FilePresentation(of: path, shows)
            agent.makeDirectory("shown/a/b")
            shows.expect("appeared b")
            agent.rename("shown/a", "shown/c")
            shows.expect("moved a c")
            agent.makeDirectory("shown/c/b/d")
            shows.expect("appeared d")
            agent.symlink(to: "/nowhere", "shown/c/b/link")
            shows.expect("appeared link")
            // Another item under a name that is taken.
            agent.symlink(to: "/elsewhere", "shown/new")
            shows.expect("appeared new")
            agent.rename("shown/new", "shown/c/b/link")
            shows.expect("deleted new", "changed link")
            // Temporary files are none; out of the folder is gone.
            agent.store("shown/.goutputstream-ABC123", "x")
            agent.rename("shown/c/b", "outside")
            shows.expect("deleted b")
            agent.rename("shown", "moved")
            shows.expect("moved moved")
            agent.makeDirectory("moved/last")
            shows.expect("appeared last")
            #expect(presentation.path == "\(volume.directory)/moved")
            presentation.end()
        }
    }

    @Test func `names that look alike, or begin with a combining mark, are told apart`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            // Unicode takes one scalar and these two for the same text; the file system does not.
            agent.symlink(to: "/nowhere", "\u{e9}")
            agent.makeDirectory("d")
            agent.makeDirectory("d/\u{301}x")
            let shows = Shows()
            let presentation = try FilePresentation(of: volume.directory, shows)
            agent.symlink(to: "/nowhere", "e\u{301}")
            shows.expect("appeared e\u{301}")
            agent.unlink("\u{e9}")
            shows.expect("deleted \u{e9}")
            agent.unlink("e\u{301}")
            shows.expect("deleted e\u{301}")
            // What is in the folder goes along.
            agent.rename("d", "e")
            shows.expect("moved d e")
            agent.makeDirectory("e/\u{301}x/in")
            shows.expect("appeared in")
            presentation.end()
        }
    }

    @Test func `a folder that takes another's place is followed there`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            for name: ByteString in ["old", "new", "new/in"] { agent.makeDirectory(name) }
            let shows = Shows()
            let presentation = try FilePresentation(of: volume.directory, shows)
            // Over an empty one.
            agent.rename("new", "old")
            shows.expect("deleted old", "moved new old")
            agent.makeDirectory("old/in/deep")
            shows.expect("appeared deep")
            presentation.end()
        }
    }

    /// Disks give the inode number of what was removed to what is made next.
    @Test func `what has the number of something that went is another item`() throws {
        try withVolume(.plain) { volume in
            let top = volume.directory
            let agent = try volume.agent()
            for name: ByteString in ["shown", "shown/folder"] { agent.makeDirectory(name) }
            for name: ByteString in ["shown/folder/in", "shown/file"] { agent.store(name, "x") }
            let shows = Shows()
            let presentation = try FilePresentation(of: "\(top)/shown", shows)
            // From here, so that it is looked at once for all of it.
            func make(_ name: String) {
                close(open("\(top)/shown/\(name)", O_CREAT | O_WRONLY, 0o600))
            }
            unlink("\(top)/shown/folder/in")
            rmdir("\(top)/shown/folder")
            make("new")
            shows.expect("deleted in", "deleted folder", "appeared new")
            unlink("\(top)/shown/file")
            make("next")
            shows.expect("deleted file", "appeared next")
            presentation.end()
        }
    }

    @Test func `a presented folder in whose place another comes is gone through again`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            for name: ByteString in ["shown", "other", "other/a"] { agent.makeDirectory(name) }
            let shows = Shows()
            let presentation = try FilePresentation(of: "\(volume.directory)/shown", shows)
            agent.rename("other", "shown")
            shows.expect("changed", "appeared a")
            agent.makeDirectory("shown/a/b")
            shows.expect("appeared b")
            presentation.end()
        }
    }

    @Test func `what the presenter's own coordinator does is not told`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            let path = "\(volume.directory)/document"
            agent.store("document", "x")
            let (own, other, above) = (Shows(), Shows(), Shows())
            let presentations = [
                try FilePresentation(of: path, own), try FilePresentation(of: path, other),
                try FilePresentation(of: volume.directory, above),
            ]
            for _ in 0..<20 {
                try FileCoordinator(for: presentations[0]).coordinate(
                    [FileIntent(path, .write)]
                ) { paths in
                    let model = try OwnedDescriptor.open(paths[0], O_RDONLY)
                    _ = try WholeFile.replace(paths[0], with: Array("own".utf8), like: model)
                }
                other.expect("changed")
                above.expect("changed document")
            }
            agent.store("document", "of another")
            own.expect("changed")
            for presentation in presentations { presentation.end() }
        }
    }

    /// Takes in what there is when it is let.
    private final class Slow: FilePresenter {
        let names = Lock(Set<String>())
        let isHeld = Monitor(true)
        func subitemChanged(_ change: SubitemChange) {
            let _: Bool? = isHeld.wait { $0 ? nil : true }
            names.withLock { names in
                switch change {
                case .appeared(let path): names.insert(path)
                case .deleted(let path): names.remove(path)
                case .moved(let path, let target):
                    names.remove(path)
                    names.insert(target)
                case .changed: break
                }
            }
        }
    }

    @Test func `lost events are made up for by looking at everything`() throws {
        try withVolume(.plain) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("d")
            let slow = Slow()
            let presentation = try FilePresentation(of: volume.directory, slow)
            // More than the kernel keeps (16,384 by default).
            let made = try volume.run(
                "sh", "-c", "for n in $(seq 9000); do : > d/f$n; done; mv d/f1 d/last; rm d/f2")
            #expect(made.status == 0)
            slow.isHeld.signal { $0 = false }
            expectSoon("\(slow.names.withLock { $0.count })") {
                let names = slow.names.withLock { $0 }
                return names.count == 8_999 && names.contains("\(volume.directory)/d/last")
            }
            presentation.end()
        }
    }

    /// Each that came was compared with each that had gone.
    @Test func `thousands that come and go at once are told in seconds`() throws {
        try withVolume(.plain) { volume in
            func shell(_ line: String) throws {
                let result = try volume.run("sh", "-ec", line)
                #expect(result.status == 0, "\(result)")
            }
            try shell("mkdir d e t; cd d; seq 9000 | xargs touch; cd ../t; seq 2000 | xargs mkdir")
            let slow = Slow()
            let presentation = try FilePresentation(of: volume.directory, slow)
            try shell(": > first; cd e; seq 9001 18000 | xargs touch; cd ..; rm -r d")
            slow.isHeld.signal { $0 = false }
            expectSoon("\(slow.names.withLock { $0.count })") {
                slow.names.withLock { $0.count } == 9_001
            }
            slow.names.withLock { $0 = ["of t"] }
            try shell("rm -r t; : > last")
            expectSoon { slow.names.withLock { $0.count } == 2 }
            presentation.end()
        }
    }

    /// Whoever shows a home folder has nothing to do with it.
    @Test func `a mount below a folder that is dead keeps nobody from the rest`() throws {
        try withVolume(.passthrough) { volume in
            let container = try #require(volume.container)
            let process = try #require(container.daemon)
            let folder = container.base
            try store(folder + "/first.note", "x")
            // The kernel knows what it is from now on, and asks when it is opened only.
            _ = try Directories.names(in: container.mountPoint)
            var status = stat()
            #expect(lstat(container.mountPoint, &status) == 0)
            #expect(kill(pid_t(process), SIGKILL) == 0)
            container.waitForEnd(of: process)
            defer { MountTable.detach(container.mountPoint) }
            let shows = Shows()
            let presentation = try FilePresentation(of: folder, shows)
            defer { presentation.end() }
            var wanted = Query()
            wanted.name = "*.note"
            let query = try MetadataQuery(wanted, below: folder)
            try query.start()
            defer { query.stop() }
            #expect(query.results.map { Shows.name($0.path) } == ["first.note"])
            try store(folder + "/second.note", "x")
            expectSoon { query.results.count == 2 }
            expectSoon { shows.told.withLock { $0.words.contains("appeared second.note") } }
            MountTable.detach(container.mountPoint)
            try volume.remountAfterCrash()
        }
    }
}
