import Glibc
import Probing
import TestSupport
import Testing

/// Things of an imported tree that take each other's names at the source: one refresh puts them right.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct TakenNameTests {
    /// Imports what `setup` makes, and refreshes once after `change`; both run in the source.
    private func refreshed(
        _ setup: String, here: String = ":", _ change: String,
        _ body: (Volume, Agent, _ source: String, _ told: String) throws -> Void
    ) throws {
        try withVolume(.passthrough) { volume in
            let source = "\(try #require(volume.container).base)/home/source"
            let agent = try volume.agent()
            agent.shell("mkdir -p \(source); cd \(source); \(setup)")
            try volume.shapeedit("import", "--promise", source, "@in")
            agent.shell("find in -mindepth 1 -printf '%i %f\\n' > ids; \(here)")
            agent.shell("cd \(source); \(change)")
            let told = try volume.shapeedit("import", "--refresh", "@in").text
            try body(volume, agent, source, told)
            agent.shell("! ls -A in | grep shapeedit-aside")
        }
    }

    /// What the item of this name was called when the tree was imported; empty if it is new.
    private func formerName(_ agent: Agent, _ name: String) -> String {
        agent.shell(
            """
            id=$(stat -c %i 'in/\(name)')
            sed -n "s/^$id //p" ids
            """
        ).filter { $0 != "\n" }
    }

    private func expectNothingToDo(_ volume: Volume) throws {
        let again = try volume.shapeedit("import", "--refresh", "@in").text
        #expect(again.contains(" 0 new, 0 changed, 0 removed"), "\(again)")
        #expect(!again.contains("taken"), "\(again)")
    }

    @Test(arguments: [":", "cat in/a in/b in/c > read"])
    func `files that swap their names keep their identity`(_ here: String) throws {
        try refreshed(
            "echo A > a; echo BB > b; echo CCC > c", here: here,
            "mv a t; mv b a; mv c b; mv t c"
        ) { volume, agent, source, told in
            #expect(!told.contains("taken"), "\(told)")
            agent.shell("diff -r in \(source)")
            for (name, former) in [("a", "b"), ("b", "c"), ("c", "a")] {
                #expect(formerName(agent, name) == former)
            }
            try expectNothingToDo(volume)
        }
    }

    @Test func `who looks right after a refresh of many names finds what it made of them`() throws {
        let swap = """
            perl -e 'for (glob("*0"), glob("*2"), glob("*4"), glob("*6"), glob("*8")) {
                ($a, $b) = ($_, $_ + 1); rename $a, "t"; rename $b, $a; rename "t", $b }'
            """
        try refreshed("for i in $(seq 10000 12999); do echo $i > $i; done", swap) {
            volume, agent, source, _ in
            for _ in 0..<6 {
                // The kernel knows all names now, and is to forget them.
                agent.shell("cd in; stat -c '%n %i' * > ../before")
                agent.shell("cd \(source); \(swap)")
                try volume.shapeedit("import", "--refresh", "@in")
                // Those who watch the folder are being told meanwhile: what a listing has the kernel
                // know must not get another's name by that.
                agent.shell("for k in 1 2 3 4 5 6; do ls -f in > listed; done")
                agent.shell("cd in; ls -r | xargs stat -c '%n %i' > ../after")
                agent.shell(
                    """
                    awk 'NR % 2 { a = $1; i = $2; next } { print a, $2; print $1, i }' before > right
                    sort after | diff -q right -
                    """)
            }
        }
    }

    /// Told of 20 ms apart, as on a machine that is busy with much else.
    @Test(.enabled(if: isInstalled("strace"), "needs strace"))
    func `a refresh ends when all names are told of, however long that takes`() throws {
        try refreshed("for i in $(seq 100 399); do echo $i > $i; done", ":") {
            volume, agent, source, _ in
            let swap =
                "for i in $(seq 100 2 398); do mv $i t; mv $((i + 1)) $i; mv t $((i + 1)); done"
            agent.shell("cd in; stat -c '%n %i' * > ../before")
            agent.shell("cd \(source); \(swap)")
            let daemon = try #require(volume.container?.daemon)
            let tasks = "/proc/\(daemon)/task"
            let thread = try run([
                "sh", "-c", "grep -l '^name notifier$' \(tasks)/*/comm | cut -d/ -f5",
            ]).text.prefix { $0 != "\n" }
            let strace = try RunningProgram(
                [
                    "strace", "-qq", "-o", "/dev/null", "-p", String(thread),
                    "-e", "trace=writev", "-e", "inject=writev:delay_enter=20000",
                ].map { Array($0.utf8) })
            defer {
                strace.kill(signal: SIGTERM)
                _ = strace.wait(seconds: 60)
            }
            waitUntil {
                (try? run(["grep", "-q", "TracerPid:.[1-9]", "\(tasks)/\(thread)/status"]))?.status
                    == 0
            }
            try volume.shapeedit("import", "--refresh", "@in")
            agent.shell("cd in; stat -c '%n %i' * > ../after")
            agent.shell(
                """
                awk 'NR % 2 { a = $1; i = $2; next } { print a, $2; print $1, i }' before > right
                diff -q right after
                """)
        }
    }

    @Test func `who looks for a moved folder by its path is never told that it is stale`() throws {
        let look = """
            until (-e $ARGV[1]) { for $above (map { "$ARGV[0]/$_" } "A".."E") {
                opendir my $names, $above; for (readdir $names) {
                    $! = 0; lstat "$above/$_"; $stale .= " $_" if $!{ESTALE} } } }
            print "looked$stale\n"
            """
        let move = """
            srand($ARGV[0]); for (0..19) { next if rand() < 0.5;
                my ($d) = glob("*/d$_"); rename $d, ("A".."E")[rand 5] . "/d$_" }
            """
        let folders =
            "mkdir A B C D E; for i in $(seq 0 19); do mkdir -p A/d$i; echo $i > A/d$i/f; done"
        try refreshed(folders, ":") { volume, agent, source, _ in
            // Who watches has the moves told, one after the other.
            let watch = try volume.start([
                "inotifywait", "-m", "-r", "-q", "-o", "/dev/null", "\(volume.directory)/in",
            ])
            defer { watch.kill(signal: SIGTERM) }
            let lookers = try (0..<2).map { _ in
                try volume.start([
                    "perl", "-e", look, "\(volume.directory)/in", "\(source)/../stop",
                ])
            }
            for round in 0..<60 {
                agent.shell("cd \(source); perl -e '\(move)' \(round)")
                try volume.shapeedit("import", "--refresh", "@in")
            }
            agent.shell("touch \(source)/../stop")
            for looker in lookers { #expect(looker.wait(seconds: 60).text == "looked\n") }
        }
    }

    @Test func `rotated logs are the same documents under other names`() throws {
        try refreshed(
            "echo new > log; echo older > log.1; echo oldest > log.2",
            "mv log.2 log.3; mv log.1 log.2; mv log log.1; echo brand new > log"
        ) { volume, agent, source, _ in
            agent.shell("diff -r in \(source)")
            for (name, former) in [
                ("log", ""), ("log.1", "log"), ("log.2", "log.1"), ("log.3", "log.2"),
            ] {
                #expect(formerName(agent, name) == former)
            }
            try expectNothingToDo(volume)
        }
    }

    @Test func `what is renamed over another takes its name`() throws {
        try refreshed("echo A > a; echo BB > b", "mv b a") { volume, agent, source, told in
            #expect(told.contains("1 changed, 1 removed"), "\(told)")
            agent.shell("diff -r in \(source)")
            #expect(formerName(agent, "a") == "b")
            try expectNothingToDo(volume)
        }
    }

    @Test func `what was fetched stays beside what took its name, and what was changed keeps it`()
        throws
    {
        try refreshed(
            "for i in a b c d; do echo $i > $i.txt; done",
            here: """
                cat in/a.txt; echo mine > in/c.txt
                until getfattr --only-values -n user.shapeedit.state in/a.txt | grep local
                do sleep 0.05; done
                """, "mv b.txt a.txt; mv d.txt c.txt"
        ) { volume, agent, _, told in
            #expect(told.contains("1 name is taken"), "\(told)")
            #expect(agent.names("in").sorted() == ["a (kept).txt", "a.txt", "c.txt", "d.txt"])
            #expect(
                agent.shell("cat in/a.txt 'in/a (kept).txt' in/c.txt") == "b\na\nmine\n")
            // The way is free: the next refresh goes it.
            agent.shell("rm in/c.txt")
            try volume.shapeedit("import", "--refresh", "@in")
            #expect(agent.names("in").sorted() == ["a (kept).txt", "a.txt", "c.txt"])
            #expect(agent.content("in/c.txt") == "d\n")
        }
    }

    @Test func `what was kept while it came has its name back when the source shows that again`()
        throws
    {
        // To hash what is read and make it durable takes longer than the two refreshes.
        try refreshed(
            "for i in $(seq 100 299); do echo $i > f$i; done; echo A > a; echo BB > b",
            here: "cat in/* > read", "mv b a"
        ) { volume, agent, source, _ in
            agent.shell("rm \(source)/a")
            try volume.shapeedit("import", "--refresh", "@in")
            agent.shell("echo CCC > \(source)/a")
            try volume.shapeedit("import", "--refresh", "@in")
            #expect(agent.names("in").contains("a"))
        }
    }

    @Test func `what cannot take its new name is read under the old one, and follows its source`()
        throws
    {
        try refreshed(
            "mkdir s; echo c > c; echo d > d; echo e > s/e",
            here: "echo mine > in/c; echo mine > in/x", "mv d c; mv s/e x"
        ) { volume, agent, source, told in
            #expect(told.contains("2 names are taken"), "\(told)")
            #expect(agent.shell("cat in/c in/d in/s/e in/x") == "mine\nd\ne\nmine\n")
            agent.shell("echo later > \(source)/c")
            let again = try volume.shapeedit("import", "--refresh", "@in").text
            #expect(again.contains("2 names are taken"), "\(again)")
            #expect(agent.shell("cat in/c in/d") == "mine\nlater\n")
            agent.shell("rm in/c in/x")
            try volume.shapeedit("import", "--refresh", "@in")
            agent.shell("diff -r in \(source)")
            #expect(formerName(agent, "c") == "d" && formerName(agent, "x") == "e")
            try expectNothingToDo(volume)
        }
    }

    @Test func `what made way and cannot take its new name has one all the same`() throws {
        try refreshed(
            "echo c > c; echo d > d; echo x > x", here: "echo mine > in/c", "mv d c; mv x d"
        ) { volume, agent, source, told in
            // Which of them is kept from its name depends on the order of the listing.
            #expect(told.contains(" taken"), "\(told)")
            #expect(agent.shell("cat in/* | sort") == "d\nmine\nx\n")
            agent.shell("rm in/c")
            try volume.shapeedit("import", "--refresh", "@in")
            agent.shell("diff -r in \(source)")
            try expectNothingToDo(volume)
        }
    }

    /// What had been read stayed with its old content for ever.
    @Test func `what was fetched, went and is made again at the source is that document again`()
        throws
    {
        try refreshed(
            "echo A > a; echo B > b; echo C > c; mkdir dir; echo D > dir/d",
            here: "cat in/a in/b in/c in/dir/* > read; echo mine >> in/b",
            "rm -r *; echo other > other"
        ) { volume, agent, source, told in
            #expect(told.contains("4 stay as they are here"), "\(told)")
            try expectNothingToDo(volume)
            agent.shell("cd \(source); echo again > a; mkdir c; echo E > c/e; echo F > dir")
            let again = try volume.shapeedit("import", "--refresh", "@in").text
            #expect(!again.contains("taken"), "\(again)")
            agent.shell("for file in a dir c; do diff -r in/$file \(source)/$file || exit; done")
            agent.shell("cat 'in/dir (kept)/d' 'in/c (kept)'")
            #expect(formerName(agent, "a") == "a")
            // What was changed here is not the source's any more.
            agent.shell("echo theirs > \(source)/b")
            let taken = try volume.shapeedit("import", "--refresh", "@in").text
            #expect(taken.contains("1 name is taken: \"b\""), "\(taken)")
            agent.shell("grep mine in/b")
        }
    }

    @Test func `folders that swap their names take with them what is in them`() throws {
        try refreshed(
            "mkdir -p x/in y/in; echo 1 > x/1; echo 22 > y/2; echo x > x/in/f; echo yy > y/in/f",
            "mv x t; mv y x; mv t y; mv x/2 two; mv x/in/f t; mv y/in/f x/in/f; mv t y/in/f"
        ) { volume, agent, source, _ in
            agent.shell("diff -r in \(source)")
            #expect(formerName(agent, "x") == "y" && formerName(agent, "y") == "x")
            #expect(formerName(agent, "two") == "2" && formerName(agent, "y/1") == "1")
            try expectNothingToDo(volume)
        }
    }

    @Test func `a file becomes a folder, a folder a file, and a symlink leads elsewhere`() throws {
        try refreshed(
            "echo a > a; mkdir b; echo b > b/b; ln -s a link; echo f > file",
            "rm a; mkdir a; echo x > a/x; rm -r b; echo now > b; ln -sfn b link; ln -sf b file"
        ) { volume, agent, source, _ in
            agent.shell("diff -r in \(source)")
            agent.shell("test \"$(readlink in/link in/file | xargs)\" = 'b b'")
            try expectNothingToDo(volume)
        }
    }

    @Test func `a file that was saved anew is the same document`() throws {
        try refreshed("echo A > a; echo B > b", "echo saved > t; mv t a") {
            volume, agent, source, told in
            #expect(told.contains("0 new, 1 changed, 0 removed"), "\(told)")
            agent.shell("diff -r in \(source)")
            #expect(formerName(agent, "a") == "a")
            try expectNothingToDo(volume)
        }
    }

    @Test func `a symlink that was made anew is the same one, with its new date`() throws {
        try refreshed(
            "echo A > a; ln -s a link", "ln -s a t; mv t link; touch -h -d 2001-02-03 link"
        ) { volume, agent, source, told in
            #expect(told.contains("0 new, 1 changed, 0 removed"), "\(told)")
            #expect(!told.contains("stay"), "\(told)")
            #expect(formerName(agent, "link") == "link")
            agent.shell("readlink in/link | grep -x a; stat -c %y in/link | grep ^2001-02-03")
            try expectNothingToDo(volume)
        }
    }

    @Test func `each name of a file is a document of its own`() throws {
        try refreshed("echo A > a; ln a h; echo B > b", "ln b c") { volume, agent, source, told in
            #expect(told.contains("1 new, 0 changed, 0 removed"), "\(told)")
            agent.shell("diff -r in \(source)")
            for (name, former) in [("a", "a"), ("h", "h"), ("b", "b"), ("c", "")] {
                #expect(formerName(agent, name) == former)
            }
            try expectNothingToDo(volume)
        }
    }

    @Test(arguments: [":", "mv sub other"])
    func `what was moved out of a folder that is removed here stays, and follows its source`(
        _ change: String
    ) throws {
        try refreshed(
            """
            mkdir -p sub/dir sub/deep; cd sub; echo want > want; : > empty; ln -s want link
            echo d > dir/d; echo deep > deep/deep; echo was > was; echo gone > gone; touch back
            echo h > h1; ln h1 h2
            """,
            here: """
                mkdir keep; cd in/sub; mv want empty link h1 h2 dir deep/deep was ../../keep
                rm -r ../sub
                """,
            "echo later > sub/want; echo e > sub/dir/e; rm sub/was; mv sub/back .; \(change)"
        ) { volume, agent, _, told in
            #expect(told.contains("1 new, 1 changed, 1 removed"), "\(told)")
            for _ in 1...2 {
                #expect(
                    agent.names("keep").sorted()
                        == ["deep", "dir", "empty", "h1", "h2", "link", "want"])
                // Nor does anything come back that was in it.
                #expect(agent.names("in").isEmpty)
                try expectNothingToDo(volume)
            }
            #expect(
                agent.shell("cd keep; cat want deep dir/d dir/e h1 h2; readlink link")
                    == "later\ndeep\nd\ne\nh\nh\nwant\n")
        }
    }

    @Test func `what goes into a folder whose name is taken here stays until that is free`()
        throws
    {
        try refreshed(
            "echo a > a; mkdir d; echo x > d/x; ln -s a link; touch empty",
            here: "echo mine > in/G; mkdir own; mv in/empty own",
            "mkdir -p G/H; mv a link empty G; mv d G/H; echo new > G/new; echo y > G/H/d/y"
        ) { volume, agent, source, told in
            for told in [told, try volume.shapeedit("import", "--refresh", "@in").text] {
                #expect(told.contains("1 name is taken: \"G\""), "\(told)")
                #expect(told.contains("0 removed"), "\(told)")
            }
            #expect(agent.names("in").sorted() == ["G", "a", "d", "link"])
            #expect(
                agent.shell("cd in; cat G a d/x d/y; readlink link; ls ../own")
                    == "mine\na\nx\ny\na\nempty\n")
            agent.shell("rm in/G; touch \(source)/G/more")
            try volume.shapeedit("import", "--refresh", "@in")
            // What was moved here stays there.
            agent.shell("rm \(source)/G/empty; diff -r in \(source); ls own/empty")
            #expect(formerName(agent, "G/a") == "a" && formerName(agent, "G/H/d") == "d")
        }
    }

    @Test func `a folder that shows another source goes on to show that`() throws {
        try withVolume(.passthrough) { volume in
            let base = "\(try #require(volume.container).base)/home"
            let agent = try volume.agent()
            agent.shell("mkdir -p \(base)/outer/a \(base)/inner \(base)/around/in")
            agent.shell("cd \(base); echo x > outer/a/x; echo y > inner/y; echo w > around/in/w")
            agent.shell("echo b > \(base)/outer/b")
            try volume.shapeedit("import", "--promise", base + "/outer", "@in")
            try volume.shapeedit("import", "--promise", base + "/inner", "@in/own")
            agent.shell("cd \(base); mkdir outer/own; mv outer/b outer/own; echo more > inner/more")
            let told = try volume.shapeedit("import", "--refresh", "@in").text
            #expect(told.contains("1 name is taken"), "\(told)")
            // What the source has in its folder of that name stays where it was.
            #expect(agent.content("in/b") == "b\n")
            // Nor does an import take it over that is made above it later.
            let around = try volume.shapeedit("import", "--promise", base + "/around", "@.").text
            #expect(around.contains("1 name is taken"), "\(around)")
            try volume.shapeedit("import", "--refresh", "@in/own")
            agent.shell("diff -r in/own \(base)/inner && diff -r in/a \(base)/outer/a")
            agent.shell("echo x2 > \(base)/outer/a/x2")
            try volume.shapeedit("import", "--refresh", "@in")
            agent.shell("diff -r in/a \(base)/outer/a && test ! -e in/w")
        }
    }
}
