import Glibc
import Probing
import TestSupport
import Testing

/// Things in a container's folder that are not what has their names.
@Suite(.oneAtATime) struct OddFilesTests {
    @Test(arguments: ["staging", "spare", "packs", "blobs", "journal"])
    func `a folder that leads nowhere is named, and nothing is given up for it`(
        _ name: String
    ) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try broken.crash { agent in
                agent.store("a", "saved last")
                agent.store("large", ByteString(repeating: "x", count: 100_000))
            }
            try broken.damage("mv \(name) ../away; ln -s ../nowhere \(name)")
            try broken.expectNobodyOpens(status: EX_DATAERR, saying: "test/\(name) is no folder")
            try broken.damage("rm \(name); mv ../away \(name)")
            try broken.whileMounted { agent in
                #expect(agent.content("a") == "saved last")
                #expect(agent.content("large").count == 100_000)
            }
            #expect(try container.check().status == 0)
        }
    }

    /// A link to a disk that is not attached leads nowhere for a while.
    @Test(arguments: ["mkfifo BLOB", "ln -s ../../../nowhere BLOB"])
    func `what cannot be read now is no loss: check leaves it alone`(_ damage: String) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let blob = try broken.blob(of: "a's only content")
            try broken.damage("mv \(blob) ../kept; rm -f durable; mkfifo durable")
            try broken.damage(damage.replacing("BLOB", with: blob))
            for _ in 1...2 {
                let check = try container.check()
                #expect(check.status == Int(EX_DATAERR), "\(check)")
                #expect(check.text.contains("a, version 1: its content cannot be read"), "\(check)")
                #expect(!check.text.contains("no whole version"), "\(check)")
            }
            try broken.damage("rm \(blob) durable; mv ../kept \(blob)")
            #expect(try container.check().status == 0)
        }
    }

    /// SQLite calls a catalog in memory so.
    @Test(arguments: ["mkdir :memory:", "mkfifo :memory:-wal"])
    func `what is in the working directory is no obstacle to a catalog`(_ making: String) throws {
        let container = try Container()
        defer { container.remove() }
        let line = "\(making) && exec \"$0\" container check \"$1\""
        let check = try run(
            ["sh", "-c", line, try BuiltPrograms.shapeedit(), container.name],
            directory: container.base, environment: container.environment)
        #expect(check.status == 0, "\(check)")
    }

    @Test func `a pipe in the place of a picture holds nobody up`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let look = "timeout 20 head -c 4 .shapeedit/thumbnails/128/p.md.png | tail -c 3"
            try broken.whileMounted { agent in
                agent.store("p.md", "# A page")
                agent.shell("for i in $(seq 30); do \(look); sleep 0.1; done > ../looked")
            }
            try broken.damage("for f in pictures/??/*; do mv $f ../was; rm ../was; mkfifo $f; done")
            let check = try container.check()
            #expect(check.status == Int(EX_DATAERR) && check.text.contains("pictures/"), "\(check)")
            try broken.whileMounted { agent in #expect(agent.shell(look) == "PNG") }
        }
    }

    @Test(arguments: ["", "-wal", "-shm"])
    func `a pipe in the place of the catalog is named, with what to do`(_ end: String) throws {
        try withBrokenContainer { broken in
            let file = "catalog.sqlite\(end)"
            try broken.damage("mkdir ../kept; mv \(file) ../kept || true; mkfifo \(file)")
            try broken.expectNobodyOpens(
                status: EX_IOERR, saying: "/\(file) is no file", "put the file back")
            try broken.damage("rm \(file); mv ../kept/* . || true")
            #expect(try broken.container.check().status == 0)
        }
    }

    /// Also of a container that was closed.
    @Test(
        arguments: ["journal/0", "journal/1", "journal/last", "lock", "packs/7"],
        ["mkfifo", "mkdir", "ln -s ../nowhere/at-all"])
    func `what is no file in the place of one is named, with what to do`(
        file: String, odd: String
    ) throws {
        try withBrokenContainer { broken in
            try broken.damage("mkdir ../kept; mv \(file) ../kept || true; \(odd) \(file)")
            try broken.expectNobodyOpens(
                status: EX_IOERR, saying: "/\(file) is no file", "remove")
            try broken.damage("rm -d \(file); mv ../kept/* $(dirname \(file)) || true")
            #expect(try broken.container.check().status == 0)
        }
    }

    /// What it leads to is something else, and was overwritten.
    @Test(arguments: [
        "journal/0", "journal/1", "journal/last", "lock", "packs/7", "catalog.sqlite",
    ])
    func `a symlink in the place of a file is named, and not written through`(file: String) throws {
        try withBrokenContainer { broken in
            let outside = broken.container.base + "/outside"
            try broken.damage("mkdir ../kept; mv \(file) ../kept || true")
            try broken.damage("echo outside > '\(outside)'; ln -s '\(outside)' \(file)")
            try broken.expectNobodyOpens(status: EX_IOERR, saying: "/\(file) is no file")
            #expect(try run(["cat", outside]).text == "outside\n")
            try broken.damage("rm \(file); mv ../kept/* $(dirname \(file)) || true")
            #expect(try broken.container.check().status == 0)
        }
    }

    @Test func `nothing is written or emptied through a symlink`() throws {
        try withBrokenContainer { broken in
            let outside = broken.container.base + "/outside"
            try broken.whileMounted { agent in agent.store("moved", "content of its own") }
            let blob = try broken.blob(of: "content of its own")
            try broken.damage(
                """
                echo outside > '\(outside)'
                for file in durable reserve \(blob) $(seq -f 'spare/%.0f' 100); do
                    rm -f $file; ln -s '\(outside)' $file
                done
                """)
            try broken.whileMounted { agent in
                for number in 1...20 { agent.store("n\(number)", "new") }
                agent.unlink("moved")
                agent.shell("sync n20")
            }
            #expect(try run(["cat", outside]).text == "outside\n")
            try broken.damage("rm -f spare/*")
            #expect(try broken.container.check().status == 0)
        }
    }

    @Test func `a pipe in the place of a pack is named, with what to do`() throws {
        try withBrokenContainer { broken in
            try broken.crash { agent in agent.store("a", "saved last") }
            try broken.damage("mkfifo packs/99")
            try broken.expectNobodyOpens(
                status: EX_IOERR, saying: "packs/99 is no file", "put the file back")
            try broken.damage("rm packs/99")
            #expect(try broken.container.check().status == 0)
        }
    }

    @Test func `a pipe in the place of what is known to be durable is no obstacle`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let store = container.base + "/store"
            try broken.damage("rm -f durable; mkfifo durable; mkdir '\(store)'")
            for address in ["folder:\(store)", "none"] {
                let moved = try container.command(
                    "container", "move-store", container.name, address)
                #expect(moved.status == 0, "\(moved)")
            }
            try broken.damage("test -f durable")
            #expect(try container.check().status == 0)
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a pipe in the place of a content keeps nobody waiting`(_ dataPath: DataPath) throws {
        let options = dataPath == .noPassthrough ? ["no_passthrough"] : []
        try withBrokenContainer { broken in
            let container = broken.container
            let blob = try broken.blob(of: "a's only content")
            try broken.damage("rm \(blob); mkfifo \(blob)")
            try container.mount(options: options)
            let reading = try run(["cat", "\(container.mountPoint)/a"])
            #expect(reading.status == 1 && reading.output.isEmpty, "\(reading)")
            let agent = try Agent(in: container.mountPoint)
            #expect(agent.content("folder/b") == "b's only content")
            agent.store("a", "new")
            #expect(agent.content("a") == "new")
            agent.end()
            try container.unmount()
        }
    }

    /// "large", of 100,000 bytes, whose content was given another length after a crash.
    private func withLargeContent(
        truncatedBy length: String, _ body: (BrokenContainer) throws -> Void
    ) throws {
        try withBrokenContainer { broken in
            try broken.crash { agent in
                agent.store("large", ByteString(repeating: "x", count: 100_000))
                agent.shell("cat large > ../published")
                // What comes before it in the journal is in it then.
                agent.makeDirectory("later")
            }
            try broken.damage("truncate \(length) $(find staging -size +90k)")
            try body(broken)
        }
    }

    /// A mount in between must not take what is left for what was saved.
    @Test(arguments: ["-s 10", "-s +10"])
    func `a content that has another length after a crash is found by check, also after a mount`(
        _ length: String
    ) throws {
        try withLargeContent(truncatedBy: length) { broken in
            try broken.whileMounted { agent in
                agent.store("other", "content")
                // Nobody is told that it is safe.
                agent.shell("! sync large 2> /dev/null")
            }
            let check = try broken.container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            #expect(check.text.contains("damaged: large, version 1: its content has"), "\(check)")
        }
    }

    /// It is not sealed then; of a blob its readers are told, too.
    @Test(arguments: ["-s 50000", "-s 0", "-s 100001"])
    func `a content that has another length after a crash is EIO to readers, and goes`(
        _ length: String
    ) throws {
        try withLargeContent(truncatedBy: length) { broken in
            try broken.whileMounted { agent in
                agent.shell("! cat large > ../read 2> ../told; test ! -s ../read")
                agent.shell("grep -q 'Input/output error' ../told")
                agent.shell("! cp large copy 2> /dev/null")
                agent.store("large", "new")
                #expect(agent.content("large") == "new")
            }
        }
    }

    @Test func `a pack that was cut off shows no other content in a document's place`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount()
            // The shell's copies of its descriptor are closed one by one: the empty file is recorded too.
            let saved = try run(["sh", "-c", "echo saved > '\(container.mountPoint)/a'"])
            #expect(saved.status == 0)
            let agent = try Agent(in: container.mountPoint)
            waitUntil { agent.content("a") == "saved\n" }
            // What comes before it in the journal is in it then.
            agent.makeDirectory("later")
            agent.end()
            try container.killDaemon()
            try broken.damage("truncate -s -3 packs/*")
            try container.mount()
            let reading = try run(["cat", "\(container.mountPoint)/a"])
            #expect(reading.status == 1 && reading.output.isEmpty, "\(reading)")
            try container.unmount()
            let check = try container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            #expect(!check.text.contains("instead of 0"), "\(check)")
            try broken.whileMounted { agent in #expect(agent.content("a") == "a's only content") }
        }
    }

    /// Contents that have no file of their own yet have no hash either.
    @Test(arguments: ["content", "head"])
    func `damage in a pack after a crash is found, and what was saved before and after is there`(
        _ place: String
    ) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount()
            let agent = try Agent(in: container.mountPoint)
            // The first small files of a process get files of their own.
            let names = ["one", "two", "earlier", "broken", "later"]
            for name in names {
                agent.store(
                    ByteString(name), ByteString("the content of \(name), made a moment ago"))
            }
            agent.end()
            try container.killDaemon()
            // In the text, or in the size before it.
            let step = place == "content" ? 8 : -30
            try broken.damage(
                """
                for pack in packs/*; do
                    at=$(grep -abo 'the content of broken' $pack | tail -1 | cut -d: -f1)
                    [ -z "$at" ] && continue
                    printf '\\377' | dd of=$pack bs=1 seek=$((at + \(step))) conv=notrunc status=none
                    found=1
                done
                [ -n "$found" ]
                """)
            let check = try container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            #expect(check.text.contains("broken"), "\(check)")
            #expect(!check.text.contains("earlier") && !check.text.contains("later"), "\(check)")
            if place == "content" {
                #expect(check.text.contains("\(broken.folder)/lost"), "\(check)")
            }
            #expect(try container.check().text.contains("broken"), "it is not forgotten")
            try broken.whileMounted { agent in
                for name in ["earlier", "later"] {
                    let text = ByteString("the content of \(name), made a moment ago")
                    #expect(agent.content(ByteString(name)) == text)
                }
                agent.open("broken", O_RDWR, fails: EIO)
                agent.store("broken", "whole")
                #expect(agent.content("broken") == "whole")
            }
            // The version that is gone is history now, and taken out of it.
            _ = try container.check()
            let last = try container.check()
            #expect(last.status == 0, "\(last)")
        }
    }

    @Test func `what was saved last is not discarded because it cannot be read`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount()
            let agent = try Agent(in: container.mountPoint)
            let file = agent.open("a", O_RDWR)
            agent.write(file, ByteString(repeating: "y", count: 100_000), offset: 0)
            agent.synchronize(file)
            try container.killDaemon()
            agent.end()
            try broken.damage(
                """
                mkdir ../kept
                for file in staging/*; do
                    test -s "$file" || continue
                    mv "$file" ../kept; mkfifo "$file"
                done
                """)
            try broken.expectNobodyOpens(status: EX_IOERR, saying: "saved last")
            try broken.damage("for file in ../kept/*; do mv -f \"$file\" staging; done")
            try broken.whileMounted { agent in
                #expect(agent.content("a") == ByteString(repeating: "y", count: 100_000))
            }
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "needs root"))
    func `a container on a disk that cannot be written is described, and not used`() throws {
        try withBrokenContainer { broken in
            let folder = broken.folder
            let line = "mount --bind \(folder) \(folder) && mount -o remount,bind,ro \(folder)"
            let before = try broken.listing()
            for words in [
                ["container", "check", "test"], ["mount", "test", broken.container.mountPoint],
            ] {
                let refused = try broken.container.command(words, after: line)
                #expect(refused.status == Int(EX_NOPERM), "\(refused)")
                #expect(refused.errorText.contains("/lock: Read-only file system"), "\(refused)")
            }
            let info = try broken.container.command(["container", "info", "test"], after: line)
            #expect(info.status == 0, "\(info)")
            #expect(info.text.hasSuffix("\nnot mounted\n"), "\(info)")
            #expect(try broken.listing() == before)
        }
    }

    @Test func `numbers and links among packs and spare files do no harm`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try broken.damage(
                """
                echo outside > ../outside
                for folder in packs spare; do
                    echo x > $folder/9223372036854775807; echo x > $folder/+3
                done
                ln -s ../../outside spare/5
                """)
            let check = try container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            for name in ["packs/9223372036854775807", "packs/+3", "spare/+3", "spare/5"] {
                #expect(check.text.contains(name), "\(name): \(check)")
            }
            try broken.whileMounted { agent in
                for number in 1...20 { agent.store("n\(number)", "new") }
                #expect(agent.content("n20") == "new")
            }
            #expect(try run(["cat", "\(broken.folder)/../outside"]).text == "outside\n")
            #expect(try run(["cat", "\(broken.folder)/spare/+3"]).text == "x\n")
        }
    }
}
