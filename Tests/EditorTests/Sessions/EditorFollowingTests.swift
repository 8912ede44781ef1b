import Documents
import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// The editor while others move, rename and delete its document.
@Suite(.oneAtATime) struct EditorFollowingTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere))),
        .solid(Solid(name: "Box", shape: SolidShape(.cube))),
    ])

    private func kinds(_ path: String) -> [SolidKind] {
        let scene = (try? Scene.read(Workplace.bytes(path))) ?? Scene()
        return scene.nodes.compactMap {
            if case .solid(let solid) = $0 { solid.shape.kind } else { nil }
        }
    }

    private static func inode(_ path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    private func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test func `a pipe in the document's place keeps nobody from leaving`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start(columns: 200)
        #expect(terminal.shows("Ball"))
        unlink(place.file)
        #expect(mkfifo(place.file, 0o600) == 0)
        #expect(terminal.shows("not a regular file"))
        terminal.type("6")
        #expect(terminal.shows("pyramid"))
        kill(terminal.process, SIGTERM)
        #expect(terminal.end() == 128 + Int(SIGTERM))
        #expect(terminal.isRestored)
        #expect(try place.names(with: "conflict of").count == 1)
    }

    /// Renames the document before and after edits, and moves it to another folder.
    private func checkMoves(_ place: Workplace) throws {
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("Ball"))
        let other = place.folder + "/other.shape"
        rename(place.file, other)
        #expect(terminal.shows("other.shape"))
        terminal.type("5")
        #expect(terminal.wait { kinds(other) == [.torus, .cube] })
        #expect(!isThere(place.file))
        // Moved while something is unsaved.
        terminal.type("6")
        #expect(terminal.shows("pyramid"))
        mkdir(place.folder + "/below", 0o700)
        let below = place.folder + "/below/last.shape"
        rename(other, below)
        #expect(terminal.wait { kinds(below) == [.pyramid, .cube] })
        #expect(terminal.shows("last.shape"))
        // The folder that is watched now.
        #expect(try place.edit("set", below, "Box.name=Crate").status == 0)
        #expect(terminal.shows("Crate"))
        terminal.type("2q")
        #expect(terminal.end() == 0)
        #expect(kinds(below) == [.cube, .cube])
        #expect(try place.names(with: "shape").isEmpty)
    }

    /// Deletes the document: it comes back on demand, or with what is unsaved at the end.
    private func checkDeletion(_ place: Workplace) throws {
        var terminal = try place.start(columns: 120)
        #expect(terminal.shows("Ball"))
        unlink(place.file)
        #expect(terminal.shows("It was deleted"))
        terminal.type("5")
        #expect(terminal.shows("torus"))
        usleep(2_500_000)
        #expect(!isThere(place.file), "nobody asked for it")
        terminal.type("w")
        #expect(terminal.wait { kinds(place.file) == [.torus, .cube] })
        #expect(terminal.wait { !terminal.screen.text.contains("(gone)") })
        terminal.type("3")
        #expect(terminal.wait { kinds(place.file) == [.cylinder, .cube] })
        unlink(place.file)
        #expect(terminal.shows("It was deleted"))
        terminal.type("4q")
        #expect(terminal.end() == 0)
        #expect(kinds(place.file) == [.cone, .cube])
        #expect(String(decoding: terminal.output, as: UTF8.self).contains("written anew"))

        terminal = try place.start(columns: 120)
        #expect(terminal.shows("Ball"))
        unlink(place.file)
        #expect(terminal.shows("It was deleted"))
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(!isThere(place.file))
    }

    @Test func `a document that others move is followed, with its new name`() throws {
        try checkMoves(try Workplace("a.shape", Self.scene))
    }

    /// Outside of mounts each save makes another file.
    @Test func `a document that is moved in the moment after a save is followed`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("Ball"))
        var path = place.file
        for (number, key) in ["5", "6", "3", "4", "2"].enumerated() {
            let other = place.folder + "/\(number).shape"
            let (from, before) = (path, Self.inode(path))
            // Without a rest, as the moment is short, and beside the terminal, which has to be read.
            Threads.start("mover") {
                let end = MonotonicClock.after(milliseconds: 15_000)
                while Self.inode(from) == before, MonotonicClock.now < end {}
                rename(from, other)
            }
            terminal.type(key)
            path = other
            #expect(terminal.shows("\(number).shape"))
        }
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(kinds(path) == [.cube, .cube])
        #expect(try place.names(with: "shape") == ["4.shape"])
    }

    @Test func `what is unsaved goes into a document that is there again at the end`()
        throws
    {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("Ball"))
        unlink(place.file)
        #expect(terminal.shows("It was deleted"))
        terminal.type("5")
        #expect(terminal.shows("torus"))
        // The signal is what it sees first.
        kill(terminal.process, SIGSTOP)
        var theirs = Self.scene
        theirs.title = "Theirs"
        try place.write(theirs)
        kill(terminal.process, SIGTERM)
        kill(terminal.process, SIGCONT)
        #expect(terminal.end() == 128 + Int(SIGTERM))
        #expect(kinds(place.file) == [.torus, .cube])
        #expect(place.scene.title == "Theirs")
        #expect(try place.names(with: "conflict of").isEmpty)
    }

    @Test func `a document that others delete comes back only on demand`() throws {
        try checkDeletion(try Workplace("a.shape", Self.scene))
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts)
    func `a document that others move in a mount is followed`(_ path: DataPath) throws {
        try withVolume(path) { volume in
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            let id = try volume.run("getfattr", "-n", "user.shapeedit.id", place.file).text
            try checkMoves(place)
            let below = place.folder + "/below/last.shape"
            let found = try volume.run("getfattr", "-n", "user.shapeedit.id", below).text
            #expect(found.split(separator: "\n").last == id.split(separator: "\n").last)
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts)
    func `a document that others delete in a mount comes back only on demand`(
        _ path: DataPath
    ) throws {
        try withVolume(path) { volume in
            try checkDeletion(try Workplace("a.shape", Self.scene, in: volume.directory))
        }
    }

    @Test(.enabled(if: !DataPath.isPlain, "needs a mount"), arguments: DataPath.mounts)
    func `in a mount it is the document that is followed, not its former name`(
        _ path: DataPath
    ) throws {
        try withVolume(path) { volume in
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            let terminal = try place.start(columns: 120)
            #expect(terminal.shows("Ball"))
            let other = place.folder + "/other.shape"
            #expect(
                try run(["sh", "-c", "mv \(place.file) \(other); cp \(other) \(place.file)"]).status
                    == 0)
            #expect(terminal.shows("other.shape"))
            terminal.type("5")
            #expect(terminal.wait { kinds(other) == [.torus, .cube] })
            terminal.type("q")
            #expect(terminal.end() == 0)
            #expect(kinds(place.file) == [.sphere, .cube])
        }
    }

    @Test func `a program that keeps a backup when it saves moves nothing`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("Ball"))
        var theirs = Self.scene
        theirs.title = "Theirs"
        // Prepared, as the name is to be missing for no longer than a program needs.
        let prepared = try Workplace("a.shape", theirs)
        withExtendedLifetime(prepared) {
            rename(place.file, place.file + "~")
            rename(prepared.file, place.file)
        }
        terminal.type("5")
        #expect(terminal.wait { kinds(place.file) == [.torus, .cube] })
        #expect(place.scene.title == "Theirs")
        #expect(kinds(place.file + "~") == [.sphere, .cube])
        terminal.type("q")
        #expect(terminal.end() == 0)
    }

    @Test func `a link to the document in its place is followed and stays`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("Ball"))
        let real = place.folder + "/real.shape"
        rename(place.file, real)
        #expect(symlink("real.shape", place.file) == 0)
        terminal.type("5")
        #expect(terminal.wait { kinds(real) == [.torus, .cube] })
        #expect(terminal.shows("real.shape"))
        terminal.type("q")
        #expect(terminal.end() == 0)
        #expect(try run(["readlink", place.file]).output == Array("real.shape\n".utf8))
    }

    @Test func `a document in the trash counts as deleted`() throws {
        let place = try Workplace("a.shape", Self.scene)
        let terminal = try place.start(columns: 120)
        #expect(terminal.shows("Ball"))
        #expect(try run(["mkdir", "-p", place.folder + "/.Trash-0/files"]).status == 0)
        let trashed = place.folder + "/.Trash-0/files/a.shape"
        rename(place.file, trashed)
        #expect(terminal.shows("It was deleted"))
        terminal.type("5q")
        #expect(terminal.end() == 0)
        #expect(kinds(place.file) == [.torus, .cube])
        #expect(kinds(trashed) == [.sphere, .cube])
    }
}
