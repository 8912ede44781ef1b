import Documents
import Glibc
import Probing
import TestSupport
import Testing

/// The editor on a document in a mounted container: what it writes is published by closing.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct EditorMountTests {
    private static let scene = Scene(nodes: [
        .solid(Solid(name: "Ball", shape: SolidShape(.sphere))),
        .solid(Solid(name: "Box", shape: SolidShape(.cube))),
    ])

    private func kinds(_ place: Workplace) -> [SolidKind] {
        place.scene.nodes.compactMap {
            if case .solid(let solid) = $0 { solid.shape.kind } else { nil }
        }
    }

    @Test(arguments: DataPath.mounts)
    func `autosave publishes versions of the same document`(_ path: DataPath) throws {
        try withVolume(path) { volume in
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            let before = try volume.run("stat", "--format=%i", place.file).text
            let id = try volume.run("getfattr", "-n", "user.shapeedit.id", place.file).text
            let terminal = try place.start()
            #expect(terminal.shows("Ball"))
            terminal.type("5")
            #expect(terminal.wait { kinds(place) == [.torus, .cube] })
            terminal.type("\u{1B}[B6")
            #expect(terminal.wait { kinds(place) == [.torus, .pyramid] })
            terminal.type("q")
            #expect(terminal.end() == 0)
            #expect(try volume.run("stat", "--format=%i", place.file).text == before)
            #expect(try volume.run("getfattr", "-n", "user.shapeedit.id", place.file).text == id)
            #expect(try place.edit("undo", place.file).status == 0)
            #expect(kinds(place) == [.torus, .cube])
        }
    }

    @Test(arguments: DataPath.mounts)
    func `what others change through the mount is shown, and both sides stay`(
        _ path: DataPath
    ) throws {
        try withVolume(path) { volume in
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            let terminal = try place.start()
            #expect(terminal.shows("Ball"))
            terminal.type("5")
            #expect(terminal.shows("torus"))
            let result = try place.edit("set", place.file, "Box.name=Crate")
            #expect(result.status == 0, "\(result)")
            #expect(terminal.shows("Crate"))
            #expect(terminal.wait { kinds(place) == [.torus, .cube] })
            #expect(place.names == ["Ball", "Crate"])
            // A program that knows no locks, and saves by rename.
            var theirs = place.scene
            theirs.title = "Theirs"
            try place.write(theirs)
            terminal.type("6")
            #expect(terminal.wait { kinds(place) == [.pyramid, .cube] })
            #expect(place.scene.title == "Theirs")
            terminal.type("q")
            #expect(terminal.end() == 0)
        }
    }

    @Test func `what is unsaved after an unmount is kept where no mount hides it`() throws {
        let aside = try TemporaryDirectory.make(below: nil)
        defer { TemporaryDirectory.remove(aside) }
        try withVolume(.noPassthrough) { volume in
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            var environment = place.environment
            environment["TMPDIR"] = aside
            let terminal = try PseudoTerminal(
                [place.program, "edit", place.file], environment: environment)
            #expect(terminal.shows("Ball"))
            try #require(volume.container).unmount()
            #expect(terminal.shows("not mounted"))
            terminal.type("6")
            #expect(terminal.shows("pyramid"))
            kill(terminal.process, SIGTERM)
            #expect(terminal.end() == 128 + Int(SIGTERM))
            #expect(try run(["ls", aside]).text.contains("conflict of"))
            try volume.remountAfterCrash()
        }
    }

    @Test func `what is unsaved after the daemon was killed is kept where no mount hides it`()
        throws
    {
        let aside = try TemporaryDirectory.make(below: nil)
        defer { TemporaryDirectory.remove(aside) }
        try withVolume(.noPassthrough) { volume in
            let container = try #require(volume.container)
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            // In the folder itself, where a new file could be made without the mount.
            let file = container.mountPoint + "/b.shape"
            #expect(rename(place.file, file) == 0)
            var environment = place.environment
            (environment["TMPDIR"], environment["XDG_STATE_HOME"]) = (aside, aside)
            let terminal = try PseudoTerminal(
                [place.program, "edit", file], environment: environment, columns: 200)
            #expect(terminal.shows("Ball"))
            // It looks for the document when the daemon is gone: the kernel has forgotten what was there.
            kill(terminal.process, SIGSTOP)
            #expect(try place.edit("set", file, "Box.name=Crate").status == 0)
            let daemon = try #require(container.daemon)
            kill(pid_t(daemon), SIGKILL)
            container.waitForEnd(of: daemon)
            kill(terminal.process, SIGCONT)
            #expect(terminal.shows("mount it again"))
            MountTable.detach(container.mountPoint)
            terminal.type("6")
            #expect(terminal.shows("pyramid"))
            kill(terminal.process, SIGTERM)
            #expect(terminal.end() == 128 + Int(SIGTERM))
            #expect(access(file, F_OK) != 0, "it would hide under the mount")
            #expect(try run(["ls", aside]).text.contains("conflict of"))
            unlink(file)
            try volume.remountAfterCrash()
        }
    }

    /// In the mount of another user nobody tells where a document goes.
    @Test(
        .enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "needs root and setpriv"),
        arguments: DataPath.mounts)
    func `in another user's mount a document is followed, and its owner can unmount`(
        _ path: DataPath
    ) throws {
        let aside = try TemporaryDirectory.make(below: nil)
        defer { TemporaryDirectory.remove(aside) }
        try withVolume(path) { volume in
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            let modes: [(String, mode_t)] = [
                (aside, 0o777), (place.folder, 0o777), (place.file, 0o666),
            ]
            for (path, mode) in modes {
                #expect(chmod(path, mode) == 0)
            }
            var environment = place.environment
            for name in ["TMPDIR", "XDG_STATE_HOME", "HOME"] { environment[name] = aside }
            let words = ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"]
            let terminal = try PseudoTerminal(
                words + [place.program, "edit", place.file], environment: environment, columns: 200)
            #expect(terminal.shows("Ball"))
            let moved = place.folder + "/below/b.shape"
            #expect(mkdir(place.folder + "/below", 0o777) == 0)
            #expect(rename(place.file, moved) == 0)
            #expect(terminal.shows("b.shape"))
            terminal.type("5")
            #expect(terminal.wait { Self.kinds(moved) == [.torus, .cube] })
            try #require(volume.container).unmount()
            #expect(terminal.shows("not mounted"))
            try volume.remountAfterCrash()
            terminal.type("6")
            #expect(terminal.wait { Self.kinds(moved) == [.pyramid, .cube] })
            terminal.type("q")
            #expect(terminal.end() == 0)
        }
    }

    private static func kinds(_ file: String) -> [SolidKind] {
        ((try? Scene.read(Workplace.bytes(file)))?.nodes ?? []).compactMap {
            if case .solid(let solid) = $0 { solid.shape.kind } else { nil }
        }
    }

    /// The other has the same id: the ids of each container begin with the same. A copy has all the same.
    @Test(arguments: [("a.list", false), ("b.list", false), ("a.list", true)])
    func `a document of another container that is mounted there is another`(
        _ name: String, isCopy: Bool
    ) throws {
        let container = try Container()
        defer { container.remove() }
        try container.mount()
        func items(_ file: String) throws -> [String] {
            try TaskList.read(Workplace.bytes(file)).items.map(\.text)
        }
        let file = container.mountPoint + "/a.list"
        #expect(try container.command("new", file).status == 0)
        #expect(try container.command("list", "add", file, "bread").status == 0)
        let terminal = try PseudoTerminal(
            [try BuiltPrograms.shapeedit(), "edit", file],
            environment: container.environment.merging(["TERM": "xterm"]) { $1 }, columns: 160)
        #expect(terminal.shows("bread"))
        try container.unmount()
        #expect(terminal.shows("not mounted"))

        let other = container.mountPoint + "/" + name
        if isCopy {
            _ = try run(["cp", "-a", container.folder, container.folder + "/../other"])
        } else {
            #expect(try container.command("container", "create", "other").status == 0)
        }
        #expect(try container.command("mount", "other", container.mountPoint).status == 0)
        if !isCopy { #expect(try container.command("new", other).status == 0) }
        #expect(try container.command("list", "add", other, "salt").status == 0)
        let theirs = try items(other)
        #expect(theirs.contains("salt"))
        terminal.type("amilk\rw")
        #expect(terminal.shows("Not saved"))
        #expect(try items(other) == theirs)
        try container.unmount()
        try container.mount()
        #expect(terminal.wait(seconds: 30) { (try? items(file)) == ["milk", "bread"] })
        terminal.type("q")
        #expect(terminal.end() == 0)
        try container.unmount()
    }

    @Test(arguments: DataPath.mounts)
    func `a conflict leaves the other side in the document and this one beside it`(
        _ path: DataPath
    ) throws {
        try withVolume(path) { volume in
            let place = try Workplace("a.shape", Self.scene, in: volume.directory)
            let terminal = try place.start()
            #expect(terminal.shows("Ball"))
            terminal.type("5")
            try place.write(Scene(nodes: [Self.scene.nodes[1]]))
            #expect(terminal.shows("Your text is in"))
            terminal.type("q")
            #expect(terminal.end() == 0)
            #expect(place.names == ["Box"])
            let copies = try place.names(with: "conflict of")
            try #require(copies.count == 1)
            let copy = try Scene.read(Workplace.bytes("\(place.folder)/\(copies[0])"))
            #expect(copy.nodes.map(\.name) == ["Ball", "Box"])
        }
    }
}
