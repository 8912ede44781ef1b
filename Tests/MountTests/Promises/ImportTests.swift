import Glibc
import Probing
import TestSupport
import Testing

/// Documents of a foreign folder or server that are shown as promises.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct ImportTests {
    /// Runs `body` with a volume and a folder beside the mount that is to be imported.
    private func withSource(
        _ dataPath: DataPath, store: String? = nil, options: [String] = [],
        _ body: (Volume, Agent, String) throws -> Void
    ) throws {
        try withVolume(dataPath, store: store, options: options) { volume in
            let source = "\(try #require(volume.container).base)/home/source"
            let agent = try volume.agent()
            agent.shell(
                """
                mkdir -p \(source)/sub/deep; cd \(source); echo first > a.txt; : > empty
                head -c 300000 /dev/urandom > sub/b.bin; head -c 9000000 /dev/urandom > sub/deep/large
                printf '#!/bin/sh\\necho ran\\n' > run; chmod 755 run; ln -s a.txt link
                touch -d @1000000 a.txt sub/b.bin; touch 'two words' "$(printf 'odd\\nname')"
                """)
            try body(volume, agent, source)
        }
    }

    private func refresh(_ volume: Volume) throws -> String {
        try volume.shapeedit("import", "--refresh", "@in").text
    }

    private func reason(_ volume: Volume, _ name: String) throws -> String {
        try volume.run("getfattr", "--only-values", "-n", "user.shapeedit.error", name).text
    }

    @Test(.enabled(if: isInstalled("prlimit"), "needs prlimit"))
    func `more small contents than there are descriptors are read at once`() throws {
        try withSource(.passthrough) { volume, agent, source in
            let container = try #require(volume.container)
            agent.shell("cd \(source); mkdir many; cd many; seq 1500 | split -l 1 -a 3 - f")
            try volume.shapeedit("import", "--promise", source, "@in")
            let daemon = try #require(container.daemon)
            agent.shell("prlimit --pid \(daemon) --nofile=700:")
            agent.shell("cd in/many && ls | xargs -P 16 -n 25 cat > /dev/null")
            agent.shell("diff -r in/many \(source)/many")
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `a folder is shown from its listing alone, and read when it is opened`(
        _ dataPath: DataPath
    ) throws {
        try withSource(dataPath) { volume, agent, source in
            let list =
                "find . -printf '%P %y %s %T@ %m %l\\n' | grep -v '^ ' | sed 's/ d [0-9]* [0-9.]* / d /' | sort"
            let there = agent.shell("cd \(source) && \(list)")
            let told = try volume.shapeedit("import", "--promise", source, "@in")
            #expect(told.text.contains("10 listed, 10 new"), "\(told)")
            #expect(agent.shell("cd in && \(list)") == there)
            #expect(try volume.state("in/a.txt") == "promise")
            #expect(agent.shell("stat -c %b in/sub/b.bin") == "1\n")
            agent.shell("ls -lR in; du -s in; getfattr -dm- -R in")
            #expect(try volume.fetchedBytes() == 0)
            try volume.remount()
            let after = try volume.agent()
            #expect(after.shell("cd in && \(list)") == there)
            // A look at the beginning of a large one.
            after.shell("head -c 16384 in/sub/deep/large | cmp -n 16384 - \(source)/sub/deep/large")
            #expect(try volume.fetchedBytes() <= 2 << 20)
            after.shell("in/run | grep ran")
            after.shell("diff -r in \(source)")
            #expect(try volume.fetchedBytes() <= 9_300_100 + 1_100_000)
            try waitUntil { try volume.state("in/sub/deep/large") == "local" }
            #expect(try volume.state("in/sub/deep/large") == "local")
            // From now on the source is not needed for what came.
            #expect(rename(source, source + ".away") == 0)
            try volume.remount()
            let last = try volume.agent()
            last.shell("diff -r in \(source).away")
            let gone = try volume.shapeedit("import", "--refresh", "@in", fails: EX_UNAVAILABLE)
            #expect(gone.errorText.contains(source), "\(gone)")
            last.shell("diff -r in \(source).away")
        }
    }

    @Test func `what changed or vanished at the source is not read as what was listed`() throws {
        try withSource(.passthrough, options: ["store_timeout=3"]) { volume, agent, source in
            try volume.shapeedit("import", "--promise", source, "@in")
            agent.shell("cd \(source); echo other > a.txt; rm sub/b.bin; echo x >> sub/deep/large")
            for (name, reason) in [
                ("a.txt", "has changed there"), ("sub/b.bin", "is not there any more"),
            ] {
                _ = agent.open("in/\(name)", O_RDONLY, fails: EIO)
                #expect(try self.reason(volume, "in/\(name)").contains(reason))
                #expect(try volume.state("in/\(name)") == "promise")
            }
            let file = agent.open("in/sub/deep/large", O_RDONLY)
            _ = agent.read(file, count: 100, fails: EIO)
            agent.close(file)
            // The whole source: an error that says so, and all else works.
            #expect(rename(source, source + ".away") == 0)
            _ = agent.open("in/run", O_RDONLY, fails: EIO, ETIMEDOUT)
            #expect(try reason(volume, "in/run").contains(source))
            agent.store("in/own", "made here")
            agent.shell("ls -lR in; mv in/sub in/moved; rm in/link")
            #expect(rename(source + ".away", source) == 0)
            agent.shell("in/run | grep ran")
        }
    }

    @Test func `what is another thing at the source is told as what changed or vanished`() throws {
        try withSource(.passthrough, options: ["store_timeout=3"]) { volume, agent, source in
            try volume.shapeedit("import", "--promise", source, "@in")
            agent.shell("cd \(source); mv run other; ln -s other run; rm -r sub; echo file > sub")
            for (name, reason) in [
                ("run", "has changed there"), ("sub/b.bin", "is not there any more"),
            ] {
                _ = agent.open("in/\(name)", O_RDONLY, fails: EIO)
                #expect(try self.reason(volume, "in/\(name)").contains(reason))
            }
            _ = try refresh(volume)
            #expect(agent.shell("in/run; cat in/sub") == "ran\nfile\n")
        }
    }

    @Test func `a refresh follows what changed, and leaves what was changed here`() throws {
        try withSource(.passthrough, store: "folder") { volume, agent, source in
            try volume.shapeedit("import", "--promise", source, "@in")
            let id = "getfattr --only-values -n user.shapeedit.id"
            agent.shell("\(id) in/sub/b.bin > ids; stat -c %i in/sub/b.bin in/sub/deep >> ids")
            agent.shell(
                """
                for i in 1 2 3 4 5 6; do echo $i > \(source)/f$i; done; mkdir \(source)/gone \(source)/kept
                echo g > \(source)/gone/g; echo k > \(source)/kept/k
                """)
            #expect(try refresh(volume).contains("10 new"))
            agent.shell(
                "cat in/f2 in/f3 > /dev/null; echo mine > in/f3; echo mine > in/f4; rm in/f6")
            agent.shell("echo own > in/kept/own; mv in/f5 in/renamed")
            // Moved with a folder, changed, replaced, vanished.
            agent.shell(
                """
                cd \(source); mv sub/deep deeper; mv sub/b.bin deeper/c.bin; echo changed > a.txt
                for i in 1 2 3 4 5; do echo new $i > f$i; done; rm -r gone kept; echo fresh > fresh
                rm empty run
                """)
            let told = try refresh(volume)
            #expect(told.contains("stay as they are here"), "\(told)")
            #expect(
                agent.shell("cat in/a.txt in/f1 in/f2 in/fresh in/renamed")
                    == "changed\nnew 1\nnew 2\nfresh\nnew 5\n")
            #expect(agent.shell("cat in/f3 in/f4") == "mine\nmine\n")
            agent.shell("! ls in/f6 && ! ls in/gone && ! ls in/empty && ! ls in/run && ! ls in/f5")
            agent.shell("test \"$(ls in/kept)\" = own && test \"$(ls in/sub)\" = ''")
            agent.shell(
                """
                (\(id) in/deeper/c.bin; stat -c %i in/deeper/c.bin in/deeper) | cmp - ids
                cmp in/deeper/large \(source)/deeper/large && cmp in/deeper/c.bin \(source)/deeper/c.bin
                """)
            // Nothing more to do, and nothing comes back; the source was not written.
            let again = try refresh(volume)
            #expect(again.contains(" 0 new, 0 changed, 0 removed"), "\(again)")
            #expect(agent.shell("cat \(source)/f3 \(source)/f4") == "new 3\nnew 4\n")
            // What came is the container's own: it goes to its store, and comes from there.
            try volume.settle()
            // What has just come is put on the disk first.
            try waitUntil { try volume.outcome("evict", "@in/a.txt", "@in/deeper").status == 0 }
            #expect(try volume.state("in/a.txt") == "promise")
            #expect(rename(source, source + ".away") == 0)
            #expect(agent.content("in/a.txt") == "changed\n")
            agent.shell("cmp in/deeper/large \(source).away/deeper/large")
        }
    }

    @Test func `what has just been fetched stays though its source vanishes or changes`() throws {
        try withVolume(.passthrough) { volume in
            let source = "\(try #require(volume.container).base)/home/source"
            let agent = try volume.agent()
            agent.shell(
                "mkdir -p \(source); cd \(source); for i in $(seq 100 299); do echo $i > f$i; done")
            try volume.shapeedit("import", "--promise", source, "@in")
            // What is replaced sooner is no version that anybody looked at.
            usleep(2_200_000)
            // To hash them and make them durable takes longer than to read them.
            agent.shell(
                """
                cat in/* > ../fetched; cd \(source); rm f2[0-8]?
                for i in $(seq 290 299); do echo new $i > f$i; done
                """)
            let told = try refresh(volume)
            #expect(told.contains("0 new, 10 changed, 0 removed"), "\(told)")
            #expect(agent.names("in").count == 200)
            let versions = "\(volume.root)/.shapeedit/versions/work/in"
            agent.shell("cat in/f[12][0-8]? in/f19? \(versions)/f29?/* | sort | cmp - ../fetched")
            #expect(agent.content("in/f295") == "new 295\n")
            // All of it is the container's own now.
            #expect(try refresh(volume).contains("0 new, 0 changed, 0 removed"))
            #expect(agent.names("in").count == 200)
        }
    }

    @Test func `a source that is empty at a refresh has nothing removed, and that is said`() throws
    {
        try withSource(.passthrough) { volume, agent, source in
            try volume.shapeedit("import", "--promise", source, "@in")
            agent.shell("find in | sort > ../listed; setfattr -n user.mine -v kept in/sub/b.bin")
            // As if its disk were not mounted.
            agent.shell("mv \(source) \(source).away; mkdir \(source)")
            let told = try volume.shapeedit("import", "--refresh", "@in", fails: 75)
            #expect(told.errorText.contains("nothing was removed"), "\(told)")
            agent.shell("find in | sort | cmp - ../listed; rmdir \(source)")
            agent.shell("mv \(source).away \(source)")
            #expect(try refresh(volume).contains(" 0 new, 0 changed, 0 removed"))
            #expect(
                agent.shell("getfattr --only-values -n user.mine in/sub/b.bin") == "kept")
            // Where nothing would be removed an empty source is none to speak of.
            agent.shell("rm -r in/* \(source)/*")
            #expect(try refresh(volume).contains("0 listed, 0 new, 0 changed, 0 removed"))
        }
    }

    @Test func `an edit makes a version of its own, and the source's stays readable`() throws {
        try withSource(.passthrough) { volume, agent, source in
            try volume.shapeedit("import", "--promise", source, "@in")
            agent.shell("echo second >> in/a.txt; echo whole > in/sub/b.bin")
            #expect(agent.content("in/a.txt") == "first\nsecond\n")
            #expect(agent.content("in/sub/b.bin") == "whole\n")
            #expect(agent.shell("cat \(source)/a.txt") == "first\n")
            let versions = "\(volume.root)/.shapeedit/versions/work/in"
            #expect(agent.shell("cat \(versions)/a.txt/*") == "first\n")
            // That of the other was never here: it comes now.
            agent.shell("cat \(versions)/sub/b.bin/* | cmp - \(source)/sub/b.bin")
        }
    }

    @Test func `what two folders show of one source comes once`() throws {
        try withSource(.passthrough) { volume, agent, source in
            for folder in ["@in", "@again"] {
                try volume.shapeedit("import", "--promise", source, folder)
            }
            agent.shell("cmp in/sub/deep/large \(source)/sub/deep/large && cat in/a.txt")
            for name in ["sub/deep/large", "a.txt"] {
                try waitUntil { try volume.state("again/\(name)") == "local" }
            }
            agent.shell("diff -r again \(source) && diff -r in \(source)")
            #expect(try volume.fetchedBytes() < 9_400_000)
        }
    }

    @Test func `an import that was cut off goes on, and another source is refused`() throws {
        try withSource(.passthrough) { volume, agent, source in
            let container = try #require(volume.container)
            agent.shell("mkdir \(source)/many; cd \(source)/many; seq 3000 | xargs touch")
            let work = try RunningProgram(
                [
                    "env", "HOME=\(container.base)/home", "XDG_DATA_HOME=\(container.dataHome)",
                    try BuiltPrograms.shapeedit(), "import", "--promise", source,
                    "\(volume.directory)/in",
                ].map { Array($0.utf8) })
            try waitUntil { try volume.run("ls", "in/a.txt").status == 0 }
            work.kill(signal: SIGKILL, group: true)
            _ = work.wait(seconds: 10)
            try volume.remount()
            try volume.shapeedit("import", "--promise", source, "@in")
            let after = try volume.agent()
            after.shell("diff -r in \(source)")
            let other = try volume.shapeedit(
                "import", "--promise", "\(container.base)/home", "@in", fails: EX_CANTCREAT)
            #expect(other.errorText.contains("shows folder:\(source) already"), "\(other)")
            let part = try volume.shapeedit("import", "--refresh", "@in/sub", fails: EX_USAGE)
            #expect(part.errorText.contains("part of an import"), "\(part)")
            let outside = try volume.shapeedit(
                "import", "--promise", source, source + "/sub", fails: EX_USAGE)
            #expect(outside.errorText.contains("not in a mounted container"), "\(outside)")
            // What is shown would be listed the next time, without end.
            let own = try volume.shapeedit(
                "import", "--promise", volume.directory, "@own", fails: EX_USAGE)
            #expect(own.errorText.contains("the mount that it is to be shown in"), "\(own)")
            let missing = try volume.shapeedit(
                "import", "--promise", source + "/none", "@x", fails: EX_NOINPUT)
            #expect(missing.errorText.contains("none"), "\(missing)")
            // No folder is made for what is refused.
            try volume.shapeedit(
                "import", "--promise", source, source + "/made", fails: EX_USAGE)
            after.shell("! ls -d own x \(source)/made 2>/dev/null")
        }
    }

    @Test func `a folder is not kept for a source that nothing was ever listed of`() throws {
        try withSource(.passthrough, options: ["store_timeout=2"]) { volume, agent, source in
            // Nothing listens there.
            let failed = try volume.shapeedit(
                "import", "--promise", "dav://127.0.0.1:1/wrong", "@in", fails: EX_UNAVAILABLE)
            #expect(failed.errorText.contains("source"), "\(failed)")
            try volume.shapeedit("import", "--promise", source, "@in")
            agent.shell("diff -r in \(source)")
            agent.shell("echo new > \(source)/new")
            #expect(try refresh(volume).contains("1 new"))
            try volume.shapeedit(
                "import", "--promise", "dav://127.0.0.1:1/wrong", "@in", fails: EX_CANTCREAT)
        }
    }

    @Test func `a source with a line break in its name is refreshed as others are`() throws {
        try withSource(.passthrough) { volume, agent, source in
            agent.shell("cp -r \(source) \"$(printf '\(source)-a\\nb')\"")
            try volume.shapeedit("import", "--promise", source + "-a\nb", "@in")
            agent.shell("echo new > \"$(printf '\(source)-a\\nb')/new\"")
            #expect(try refresh(volume).contains("1 new"))
            agent.shell("diff -r in \"$(printf '\(source)-a\\nb')\"")
            let part = try volume.shapeedit("import", "--refresh", "@in/sub", fails: EX_USAGE)
            #expect(part.errorText.contains("part of an import"), "\(part)")
        }
    }

    @Test(.enabled(if: DataPath.ordinaryUsersCanMount, "needs fusermount3"))
    func `what was listed before the listing failed is there`() throws {
        try withSource(.ordinaryUser) { volume, agent, source in
            // Root could read it.
            agent.shell(
                "cd \(source); for i in 1 2 3; do mkdir closed$i open$i; touch open$i/x; done")
            agent.shell("chmod 0 \(source)/closed*")
            let failed = try volume.shapeedit(
                "import", "--promise", source, "@in", fails: EX_NOPERM)
            #expect(failed.errorText.contains("closed"), "\(failed)")
            // Whatever the order: what is closed does not keep us from the others.
            let names = "find . -name 'closed*' -prune -o -print | sort"
            #expect(agent.shell("cd in; \(names)") == agent.shell("cd \(source); \(names)"))
            agent.shell("chmod 700 \(source)/closed*")
            #expect(try refresh(volume).contains("0 removed"))
            // Modes are those of the listing that showed it first.
            agent.shell("chmod 700 in/closed*; diff -r in \(source)")
        }
    }

    @Test(.enabled(if: DataPath.ordinaryUsersCanMount, "needs fusermount3"))
    func `a folder that stays closed keeps what is in it, and all else follows`() throws {
        try withSource(.ordinaryUser) { volume, agent, source in
            agent.shell(
                """
                cd \(source)
                mkdir -p shut/deep old/shut d/taken; echo > lost
                echo 1 | tee shut/file shut/deep/file shut/own old/shut/file old/file d/taken/file
                echo 1 | tee d/gone d/replaced d/a; echo 22 > d/b
                """)
            try volume.shapeedit("import", "--promise", source, "@in")
            let numbers = "find . -path '*shut/*' -printf '%f %i\\n' | sort"
            let before = agent.shell("cd in; \(numbers)")
            agent.shell(
                """
                echo own > in/shut/own
                cd \(source)
                rm lost d/gone; echo new > n; mv n d/replaced; mv d/a c; mv d/b d/a; mv c d/b
                rm -r d/taken; echo file > d/taken; mv old new; chmod 0 shut new/shut
                """)
            let told = try volume.shapeedit("import", "--refresh", "@in", fails: EX_NOPERM)
            #expect(told.errorText.contains("2 such things are as before here"), "\(told)")
            #expect(told.text.contains(" 1 new,") && told.text.contains(" 4 removed"), "\(told)")
            #expect(agent.shell("cd in; \(numbers)") == before)
            let others = "find . -path '*shut*' -prune -o -print | sort; cat d/a d/b d/replaced"
            #expect(agent.shell("cd in; \(others)") == agent.shell("cd \(source); \(others)"))
            // Who looks again finds no more to do, and nothing is lost when it is open again.
            let again = try volume.shapeedit("import", "--refresh", "@in", fails: EX_NOPERM)
            #expect(again.text.contains(" 0 new, 0 changed, 0 removed"), "\(again)")
            agent.shell("chmod 700 \(source)/shut \(source)/new/shut; rm \(source)/shut/deep/file")
            #expect(try refresh(volume).contains(" 0 new, 0 changed, 1 removed"))
            #expect(agent.content("in/shut/own") == "own\n")
            agent.shell("echo own > \(source)/shut/own; diff -r in \(source)")
        }
    }
}
