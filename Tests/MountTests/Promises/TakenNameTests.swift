import Glibc
import Probing
import TestSupport
import Testing

/// Things of an imported tree that take each other's names at the source: one refresh puts them right.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct TakenNameTests {
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
