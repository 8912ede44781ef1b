import Glibc
import Probing
import TestSupport
import Testing

/// Programs of every day, unchanged.
@Suite(.oneAtATime) struct ProgramTests {
    @Test(.enabled(if: isInstalled("git"), "needs git"), arguments: DataPath.posixOfAllUsers)
    func `git makes, clones, packs and verifies repositories`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let author = "-c user.name=Test -c user.email=test@example.org"
            agent.shell(
                """
                set -e; export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
                git init -q -b main repo; cd repo
                for i in $(seq 150); do mkdir -p d$((i % 7)); seq $i $((i * 3)) > d$((i % 7))/f$i; done
                git add . && git \(author) commit -qm first
                for i in $(seq 1 3 150); do echo changed >> d$((i % 7))/f$i; done
                git \(author) commit -qam second
                git checkout -q -b side HEAD~1; echo side > side; git add side
                git \(author) commit -qm side; git checkout -q main
                git \(author) merge -q -m merge side
                test -z "$(git status --porcelain)"
                git gc -q --prune=now; git fsck --full --strict
                cd ..; git clone -q repo local; git clone -q --no-local repo copied
                diff -r --exclude=.git repo local; diff -r --exclude=.git repo copied
                cd copied; git fsck --full; git mv d1 moved; git \(author) commit -qm move
                git push -q origin HEAD:pushed; git stash list; git log --oneline | wc -l
                cd ../repo; git fsck --full; git worktree add -q ../tree pushed; test -d ../tree/moved
                git reset -q --hard HEAD~1; test -z "$(git status --porcelain)"
                """)
        }
    }

    @Test(
        .enabled(if: isInstalled("sqlite3"), "needs sqlite3"), arguments: DataPath.posixOfAllUsers,
        ["delete", "truncate", "persist", "wal"])
    func `sqlite keeps its promises among several processes`(
        _ dataPath: DataPath, journal: String
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell(
                """
                set -e
                sqlite3 db 'PRAGMA journal_mode=\(journal); CREATE TABLE t (p INTEGER, n INTEGER, x TEXT)'
                for p in 1 2 3 4; do
                    (for n in $(seq 20); do
                        echo ".timeout 300000"
                        echo "BEGIN IMMEDIATE; INSERT INTO t VALUES ($p, $n, hex(randomblob(500)));"
                        echo "UPDATE t SET n = n WHERE p = $p; COMMIT;"
                    done) | sqlite3 db || echo "writer $p failed" >&2 &
                done
                for i in $(seq 10); do
                    printf '.timeout 300000\\nPRAGMA integrity_check;\\n' | sqlite3 db | grep -qx ok
                done
                wait
                """)
            #expect(agent.shell("sqlite3 db 'SELECT count(*) FROM t'") == "80\n")
            #expect(agent.shell("sqlite3 db 'PRAGMA integrity_check'") == "ok\n")
            let other = try volume.agent()
            #expect(other.shell("sqlite3 db 'SELECT count(DISTINCT p || n) FROM t'") == "80\n")
            // A writer that dies in the middle leaves a database to recover.
            agent.shell(
                """
                (printf '.timeout 5000\\nBEGIN; DELETE FROM t WHERE p < 4; UPDATE t SET x = 1;\\n'; sleep 1) |
                    sqlite3 db & p=$!; sleep 0.5; kill -9 $p; wait $p || true
                """)
            #expect(other.shell("sqlite3 db 'SELECT count(*) FROM t'") == "80\n")
            #expect(other.shell("sqlite3 db 'PRAGMA integrity_check'") == "ok\n")
            try volume.remount()
            let after = try volume.agent()
            #expect(after.shell("sqlite3 db 'SELECT count(*) FROM t'") == "80\n")
        }
    }

    @Test(.enabled(if: isInstalled("rsync"), "needs rsync"), arguments: DataPath.posix)
    func `rsync carries a tree in and out without a difference`(_ dataPath: DataPath) throws {
        let outside = try TemporaryDirectory.make(below: DataPath.plainDirectory)
        defer { TemporaryDirectory.remove(outside) }
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            try #require(try run(["sh", "-c", Self.tree("\(outside)/in")]).status == 0)
            let acl = isInstalled("setfacl") ? "A" : ""
            let rsync = "rsync -aHX\(acl)S --numeric-ids"
            agent.shell("\(rsync) '\(outside)/in/' inside/")
            // Nothing left to do: sizes, times, owners, links and attributes arrived.
            #expect(agent.shell("\(rsync) -ni --checksum '\(outside)/in/' inside/") == "")
            agent.shell("\(rsync) inside/ '\(outside)/out/'")
            // Only what the mount itself adds may be more.
            let filter = "--filter='-x user.shapeedit.*'"
            #expect(
                agent.shell("\(rsync) \(filter) -ni --checksum '\(outside)/in/' '\(outside)/out/'")
                    == "")
            agent.shell("\(rsync) inside/ again/ && diff -r -x fifo --no-dereference inside again")
            agent.shell("echo changed >> inside/dir/file3 && rm inside/dir/file4")
            agent.shell("\(rsync) --delete --inplace inside/ again/")
            agent.shell("diff -r -x fifo --no-dereference inside again")
            agent.shell("\(rsync) --delete --append inside/ again/")
            try volume.remount()
            let after = try volume.agent()
            after.shell("diff -r -x fifo --no-dereference inside again")
            #expect(after.shell("\(rsync) -n -i --delete inside/ again/") == "")
        }
    }

    @Test(arguments: DataPath.posix)
    func `tar and cp bring everything back`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell(Self.tree("tree"))
            let list =
                "find . -printf '%P %y %m %U %G %n %l %T@ ' \\( -type d -printf '\\n' -o -printf '%s\\n' \\) | sort"
            agent.shell(
                """
                set -e
                (cd tree && \(list)) > before
                tar --xattrs --xattrs-exclude='user.shapeedit.*' -cf t.tar tree
                tar --xattrs -df t.tar
                mkdir x && tar --xattrs -xpf t.tar -C x
                (cd x/tree && \(list)) > after; diff before after
                diff -r -x fifo --no-dereference tree x/tree
                cp -a tree copy; (cd copy && \(list)) > copied; diff before copied
                diff -r -x fifo --no-dereference tree copy
                tar -czf t.tgz tree && tar -tzf t.tgz > /dev/null
                rm -r x copy; mv tree moved; (cd moved && \(list)) > moved.txt; diff before moved.txt
                """)
            #expect(agent.attribute("moved/dir/file1", "user.note") == "a note")
        }
    }

    /// A shell script that makes a tree of everything a directory can hold.
    private static func tree(_ path: String) -> String {
        """
        set -e; mkdir -p '\(path)/dir/deep/deeper' '\(path)/empty'; cd '\(path)'
        for i in 1 2 3 4 5; do head -c $((i * 7919)) /dev/urandom > dir/file$i; done
        : > nothing; printf 'name with\\nnewline' > 'odd
        name'; printf x > "$(printf 'bytes\\377\\376')"
        ln dir/file1 hardlink; ln dir/file1 dir/deep/another; ln -s dir/file2 symlink
        ln -s nowhere dangling; mkfifo fifo; truncate -s 3M sparse; printf end >> sparse
        chmod 4755 dir/file2; chmod 1777 empty; chmod 600 dir/file3; chmod 000 dir/file5
        setfattr -n user.note -v 'a note' dir/file1 || python3 -c 'import os; os.setxattr("dir/file1", "user.note", b"a note")'
        touch -d '2001-02-03 04:05:06.123456789' dir/file4 dir/deep; touch -h -d @1000000000 symlink
        if test $(id -u) = 0; then chown 1000:2000 dir/file3; chown -h 3:4 symlink; fi
        """
    }

    @Test(.enabled(if: isInstalled("vim"), "needs vim"), arguments: DataPath.posixOfAllUsers)
    func `vim saves in every way it knows`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (agent, reader) = (try volume.agent(), try volume.agent())
            for setup in [
                "set nobackup nowritebackup", "set writebackup backupcopy=no", "set backup",
                "set backupcopy=yes", "set backupcopy=breaksymlink,auto",
            ] {
                agent.store("text", "one\ntwo\nthree\n", mode: 0o640)
                agent.run(
                    "vim", "-es", "-u", "NONE", "-c", ByteString(setup), "-c", "%s/two/2/", "-c",
                    "wq", "text")
                #expect(reader.content("text") == "one\n2\nthree\n", "\(setup)")
                #expect(reader.status("text").permissions == 0o640, "\(setup)")
                #expect(!reader.names(".").contains { $0.hasSuffix(".swp") })
            }
            agent.symlink(to: "text", "link")
            agent.run("vim", "-es", "-u", "NONE", "-c", "%s/2/zwei/", "-c", "wq", "link")
            #expect(reader.content("text") == "one\nzwei\nthree\n")
            #expect(reader.status("link", following: false).isLink)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `sed, sort, dd, install and their like change files in place`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (agent, reader) = (try volume.agent(), try volume.agent())
            agent.shell("seq 1000 > numbers")
            for round in 0..<20 {
                agent.shell("sed -i 's/^\(round)$/changed/' numbers")
                #expect(reader.shell("grep -c changed numbers || true") == "\(max(0, round))\n")
            }
            agent.shell(
                """
                set -e; export TMPDIR=.; sort -o numbers numbers; sort -c numbers; wc -l < numbers | grep -qx 1000
                perl -pi -e 's/9/nine/' numbers; grep -q nine numbers
                dd if=/dev/zero of=zeros bs=64k count=10 conv=fsync status=none
                dd if=/dev/zero of=zeros bs=1 seek=100000 count=5 conv=notrunc status=none
                test $(stat -c %s zeros) = 655360
                install -m 750 numbers installed; test $(stat -c %a installed) = 750
                cp --reflink=auto numbers c; cmp c numbers; truncate -s 100 c; test $(wc -c < c) = 100
                split -b 1000 numbers part.; cat part.* | cmp - numbers; rm part.*
                gzip -k numbers; gunzip -c numbers.gz | cmp - numbers
                printf 'a\\nb\\n' > old; printf 'a\\nc\\n' > new; diff -u old new > p || true
                patch -s old p; cmp old new; tac numbers | tac | cmp - numbers
                mkdir many; (cd many; seq 500 | xargs touch); test $(ls many | wc -l) = 500
                find many -name '*1*' -delete; rm -r many; shuf numbers > s; mv -f s numbers
                yes line | head -c 1M > big; tail -c +1000 big | head -c 10 > /dev/null; sync big
                """)
        }
    }

    @Test(
        .enabled(if: isInstalled("make") && isInstalled("gcc"), "needs make and gcc"),
        arguments: DataPath.posixOfAllUsers)
    func `make builds a project and then only what changed`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store(
                "Makefile",
                """
                CFLAGS = -O1 -Wall
                OBJECTS = main.o one.o two.o
                program: $(OBJECTS)
                \t$(CC) -o $@ $(OBJECTS)
                $(OBJECTS): all.h
                clean:
                \trm -f program *.o

                """)
            agent.store("all.h", "int one(void);\nint two(void);\n")
            agent.store("one.c", "#include \"all.h\"\nint one(void) { return 1; }\n")
            agent.store("two.c", "#include \"all.h\"\nint two(void) { return 2; }\n")
            agent.store(
                "main.c",
                """
                #include <stdio.h>
                #include "all.h"
                int main(void) { printf("%d\\n", one() + two()); return 0; }

                """)
            agent.shell("make -j2")
            #expect(agent.shell("./program") == "3\n")
            #expect(agent.shell("make").contains("up to date"))
            letTimePass()
            agent.store("two.c", "#include \"all.h\"\nint two(void) { return 20; }\n")
            let output = agent.shell("make")
            #expect(output.contains("two.o") && !output.contains("-o one.o"))
            #expect(agent.shell("./program") == "21\n")
            try volume.remount()
            let after = try volume.agent()
            #expect(after.shell("make").contains("up to date"))
            after.shell("make clean && make -j2 && ./program")
        }
    }

    @Test(.enabled(if: isInstalled("python3"), "needs python3"), arguments: DataPath.posix)
    func `python's shelve, mailbox and zip work`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let result = agent.run(
                "python3", "-c",
                """
                import shelve, mailbox, zipfile, mmap, tempfile, os
                with shelve.open("shelf") as s:
                    for i in range(200): s[str(i)] = list(range(i))
                with shelve.open("shelf") as s:
                    assert len(s) == 200 and s["150"] == list(range(150))
                m = mailbox.Maildir("mail")
                for i in range(20): m.add(f"Subject: {i}\\n\\nbody {i}\\n")
                assert len(m) == 20
                b = mailbox.mbox("box"); b.lock()
                for i in range(20): b.add(f"Subject: {i}\\n\\nbody {i}\\n")
                b.flush(); b.unlock(); b.close(); assert len(mailbox.mbox("box")) == 20
                with zipfile.ZipFile("z.zip", "w", zipfile.ZIP_DEFLATED) as z:
                    for i in range(50): z.writestr(f"f{i}", str(i) * 1000)
                with zipfile.ZipFile("z.zip", "a") as z: z.writestr("more", "x")
                assert zipfile.ZipFile("z.zip").testzip() is None
                with open("mapped", "w+b") as f:
                    f.truncate(100000)
                    with mmap.mmap(f.fileno(), 0) as p: p[99990:] = b"0123456789"; p.flush()
                    f.seek(99990); assert f.read() == b"0123456789"
                with tempfile.TemporaryFile(dir=".") as t: t.write(b"x" * 50000); t.seek(0); assert len(t.read()) == 50000
                with tempfile.NamedTemporaryFile(dir=".") as t: t.write(b"x"); t.flush(); assert os.path.getsize(t.name) == 1
                """)
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test(
        .enabled(if: isInstalled("soffice"), "needs LibreOffice"), arguments: DataPath.posix)
    func `LibreOffice converts and saves`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("letter.txt", "Dear reader,\n")
            agent.shell("HOME=$PWD soffice --headless --convert-to odt letter.txt")
            agent.shell("HOME=$PWD soffice --headless --convert-to pdf letter.odt")
            #expect(agent.content("letter.pdf").text.hasPrefix("%PDF"))
        }
    }
}
