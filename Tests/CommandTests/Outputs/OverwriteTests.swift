import Glibc
import TestSupport
import Testing

/// What is written for a document never takes the place of one unseen.
@Suite(.oneAtATime) struct OverwriteTests {
    @Test func `a program that is killed while it writes leaves nothing behind`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let script = (1...2_000).map { "add sphere 'S \($0)'" }.joined(separator: "\n")
            try desk.run("apply", "s.shape", "-", input: Array(script.utf8))
            try desk.write("old", to: "model.stl")
            for output in ["model.stl", "new.stl"] {
                let program = try desk.start(["render", "s.shape", "-o", output])
                // Until a part of it is on the disk.
                let began = try desk.shell(
                    "for i in $(seq 3000); do stat -Lc %s /proc/\(program.process)/fd/* 2> sizes.txt | "
                        + "grep -q '^[0-9]\\{7,\\}$' && echo yes && break; sleep 0.01; done")
                kill(program.process, SIGKILL)
                #expect(program.wait(seconds: 60).status != 0)
                #expect(began == "yes\n")
                try desk.shell("rm -f sizes.txt")
                #expect(try desk.names() == ["model.stl", "s.shape"])
                #expect(try desk.shell("cat model.stl") == "old")
            }
        }
    }

    @Test(arguments: Desk.places)
    func `a picture takes no document's place`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "a.shape")
            try desk.run("new", "b.slide")
            try desk.shell("cp a.shape unnamed; ln -s b.slide link.png")
            let before = ["a.shape", "b.slide", "unnamed"].map { desk.bytes($0) }
            for target in ["a.shape", "b.slide", "unnamed", "link.png"] {
                let said = try desk.fail(
                    73, "render", "a.shape", "-o", target, "--format", "png")
                #expect(said.contains(target) && said.contains("document"), "\(said)")
                try desk.fail(73, "thumbnail", "a.shape", "-o", target)
            }
            #expect(["a.shape", "b.slide", "unnamed"].map { desk.bytes($0) } == before)
            // Nor of what is drawn, whatever it is.
            try desk.shell("printf 'some words' > note.txt")
            try desk.fail(73, "thumbnail", "note.txt", "-o", "note.txt")
            #expect(desk.bytes("note.txt") == Array("some words".utf8))
            // A picture is replaced by a newer one.
            try desk.run("render", "a.shape", "-o", "a.png")
            try desk.run("render", "b.slide", "-o", "a.png")
        }
    }

    @Test(arguments: Desk.places)
    func `what is converted over a document can be undone`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "a.shape")
            try desk.run("new", "b.shape")
            try desk.run("set", "b.shape", "title=mine")
            let mine = desk.bytes("b.shape")
            try desk.run("convert", "a.shape", "b.shape", "--force")
            #expect(desk.bytes("b.shape") != mine)
            #expect(try desk.run("undo", "b.shape").contains("convert a.shape"))
            #expect(desk.bytes("b.shape") == mine)
            try desk.run("undo", "b.shape")
            try desk.run("redo", "b.shape")
            #expect(desk.bytes("b.shape") == mine)
        }
    }

    @Test func `lines of text from anywhere become a list`() throws {
        try withDesk(.plain) { desk in
            try desk.run(
                "convert", "-", "a.list", "--type", "text", input: Array("- [ ] milk\n".utf8))
            try desk.shell("printf -- '- [ ] eggs\\n' > lines")
            try desk.run("convert", "lines", "b.list", "--type", "text")
            #expect(try desk.run("list", "copy", "a.list").contains("milk"))
            #expect(try desk.run("list", "copy", "b.list").contains("eggs"))
        }
    }

    @Test func `a fault in a script names the script and the document`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.shape")
            try desk.shell("printf 'title x\\nset Nobody.color=red\\n' > edits")
            let said = try desk.fail(65, "apply", "a.shape", "edits")
            #expect(said.contains("a.shape") && said.contains("edits: line 2"), "\(said)")
        }
    }
}
