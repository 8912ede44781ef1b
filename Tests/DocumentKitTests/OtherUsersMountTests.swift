import DocumentKit
import Glibc
import Probing
import TestSupport
import Testing

/// The library and `shapeedit coordinate` for programs of one user in the mount of another, who lets others in.
@Suite(
    .oneAtATime,
    .enabled(
        if: DataPath.isPrivileged && !DataPath.isPlain && isInstalled("setpriv")
            && isInstalled("stdbuf"), "needs root, setpriv, stdbuf and a mount"))
struct OtherUsersMountTests {
    /// A volume of root with a file that all may change, in a folder where all may.
    private func withSharedNote(
        _ place: DataPath, _ body: (Volume, _ path: String) throws -> Void
    ) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            #expect(chmod(volume.directory, 0o777) == 0)
            try make(path)
            try body(volume, path)
        }
    }

    private func make(_ path: String) throws {
        try store(path, "old\n")
        #expect(chmod(path, 0o666) == 0)
    }

    @Test(arguments: DataPath.mounts)
    func `a document is edited, and follows what the owner does`(_ place: DataPath) throws {
        try withSharedNote(place) { volume, path in
            let note = try OthersProgram.noteTaker("note", in: volume)
            note.say("one")
            note.expect("-- saved")
            #expect(text(of: path) == "old\none\n")
            // It is one version.
            let versions = try #require(volume.container).command("versions", path)
            #expect(versions.text.split(separator: "\n").count == 2, "\(versions)")
            try store(path, "old\none\ntwo\n")
            note.expect("-- changed")
            let binary = try BuiltPrograms.shapeedit()
            let line = "echo three >> note"
            let writing = try volume.run(
                binary, "coordinate", "--write", "note", "--", "sh", "-c", line)
            #expect(writing.status == 0, "\(writing)")
            note.expect("-- changed")
            // It goes with its file, and with a folder above.
            mkdir("\(volume.directory)/in", 0o755)
            for (former, name, now) in [
                ("note", "other", "other"), ("other", "in/note", "in/note"),
                ("in", "on", "on/note"),
            ] {
                #expect(rename("\(volume.directory)/\(former)", "\(volume.directory)/\(name)") == 0)
                note.expect("-- now at \(volume.directory)/\(now)")
            }
            note.say("four")
            note.expect("-- saved")
            let moved = "\(volume.directory)/on/note"
            #expect(text(of: moved) == "old\none\ntwo\nthree\nfour\n")
            #expect(chmod("\(volume.directory)/on", 0o777) == 0)
            note.say("not saved")
            try store(moved, "theirs\n")
            note.expect("-- others changed it too")
            note.say("both")
            note.expect("-- your text is in note (conflict of ")
            note.say("five")
            note.end()
            #expect(text(of: moved) == "theirs\nfive\n")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a deletion by the owner closes a document, or is in conflict with what is not saved`(
        _ place: DataPath
    ) throws {
        try withSharedNote(place) { volume, path in
            let trash = "\(try #require(volume.container).mountPoint)/.Trash-0"
            for folder in [trash, trash + "/files"] { mkdir(folder, 0o700) }
            for isTrash in [false, true] {
                func delete() {
                    #expect((isTrash ? rename(path, trash + "/files/note") : unlink(path)) == 0)
                }
                try make(path)
                let saved = try OthersProgram.noteTaker("note", in: volume)
                delete()
                expectSoon {
                    saved.say("undo")
                    usleep(100_000)
                    return saved.said.contains("-- the document is not open")
                }
                saved.end()
                #expect(text(of: path) == nil)

                try make(path)
                let unsaved = try OthersProgram.noteTaker("note", in: volume)
                unsaved.say("more")
                delete()
                unsaved.expect("-- others changed it too")
                unsaved.say("mine")
                unsaved.expect("-- saved")
                unsaved.end()
                #expect(text(of: path) == "old\nmore\n")
            }
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `an open document does not keep the owner from unmounting, and waits for the mount`(
        _ place: DataPath
    ) throws {
        try withSharedNote(place) { volume, path in
            let container = try #require(volume.container)
            let note = try OthersProgram.noteTaker("note", in: volume)
            for isKilled in [false, true] {
                let former = try #require(text(of: path))
                if isKilled { try container.killDaemon() } else { try container.unmount() }
                note.say("while \(isKilled)")
                note.expect("-- it cannot be saved now")
                try volume.remountAfterCrash()
                note.expect("-- saved")
                #expect(text(of: path) == "\(former)while \(isKilled)\n")
                // It is presented again; of the first it may know by a look of its own.
                for _ in 1...2 {
                    try store(path, "old\n")
                    note.expect("-- changed")
                    try store(path, "old\nonce more\n")
                    note.expect("-- changed")
                }
            }
            note.end()
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a folder is presented and searched, as far as it may be read`(_ place: DataPath) throws {
        try withSharedNote(place) { volume, path in
            let folder = volume.directory
            let closed = "\(folder)/closed"
            #expect(mkdir(closed, 0o700) == 0)
            let words = [try BuiltPrograms.documentEditor(), folder]
            let watcher = try OthersProgram(words, in: volume)
            watcher.expect("found note\n")
            try store(path, "changed\n")
            watcher.expect("changed \(path)\n")
            try store(closed + "/secret", "x")
            #expect(rename(path, folder + "/renamed") == 0)
            watcher.expect("moved \(path) to \(folder)/renamed\n")
            watcher.expect("found renamed\n")
            #expect(rename(closed + "/secret", folder + "/known") == 0)
            watcher.expect("appeared \(folder)/known\n")
            watcher.expect("found known renamed\n")
            #expect(unlink(folder + "/renamed") == 0)
            watcher.expect("deleted \(folder)/renamed\n")
            watcher.expect("found known\n")
            #expect(!watcher.said.contains("secret"))
            try #require(volume.container).unmount()
            for words in ["nothing more is told\n", "nothing more is found\n"] {
                expectSoon(watcher.said) { watcher.said.contains(words) }
            }
            watcher.end()
            try volume.remountAfterCrash()
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `claims and locks of the owner and of others keep each other out`(
        _ place: DataPath
    ) throws {
        try withSharedNote(place) { volume, path in
            let binary = try BuiltPrograms.shapeedit()
            typealias Start = ([String]) throws -> RunningProgram
            let own: Start = { try volume.start($0) }
            let other: Start = { try volume.startAsOther($0) }
            let holders = [
                [binary, "coordinate", "--read", "note", "--"], ["flock", "-s", "note"],
                [binary, "coordinate", "--write", "note", "--"], ["flock", "-x", "note"],
            ]
            for (holds, waits) in [(own, other), (other, own), (other, other)] {
                for (number, words) in holders.enumerated() {
                    let held = "\(volume.directory)/held"
                    let holder = try holds(words + ["sh", "-c", "touch held; exec sleep 100"])
                    expectSoon { access(held, F_OK) == 0 }
                    for access in ["--read", "--write"] {
                        let waiting = [binary, "coordinate", access, "note", "--timeout", "0.3"]
                        let result = try waits(waiting + ["--", "true"]).wait()
                        let isFree = number < 2 && access == "--read"
                        #expect(result.status == (isFree ? 0 : 75), "\(words) \(access): \(result)")
                    }
                    // Who waits has it when it is free.
                    let waiting = [binary, "coordinate", "--write", "note", "--", "true"]
                    let waiter = try waits(waiting)
                    usleep(100_000)
                    #expect(waiter.isRunning)
                    holder.kill(signal: SIGKILL, group: true)
                    _ = holder.wait()
                    let result = waiter.wait()
                    #expect(result.status == 0, "\(words): \(result)")
                    unlink(held)
                }
            }
            #expect(text(of: path) == "old\n")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `commands edit and restore documents there, also under a claim`(_ place: DataPath) throws {
        try withSharedNote(place) { volume, _ in
            let binary = try BuiltPrograms.shapeedit()
            // Saves within two seconds count as one, but for what is kept apart.
            let line = """
                '\(binary)' new s.shape && \
                '\(binary)' coordinate --write s.shape -- '\(binary)' set s.shape title=Ball && \
                '\(binary)' coordinate --write s.shape -- \
                '\(binary)' coordinate --write s.shape -- '\(binary)' get s.shape title && \
                setfattr -n user.shapeedit.apart -v current s.shape && \
                '\(binary)' set s.shape title=Cube && '\(binary)' restore s.shape && \
                '\(binary)' get s.shape title
                """
            let result = try volume.startAsOther(["sh", "-c", line]).wait()
            #expect(result.status == 0 && result.text.hasSuffix("\nBall\n"), "\(result)")
        }
    }
}
