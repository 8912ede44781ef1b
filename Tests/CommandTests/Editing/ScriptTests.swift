import TestSupport
import Testing

@Suite(.oneAtATime) struct ScriptTests {
    @Test(arguments: Desk.places)
    func `a script makes all of its edits or none`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            let before = desk.bytes("s.shape")
            try desk.write(
                """
                # A comment, then a blank line.

                add cube "My box"
                set Sphere.color=#000000
                move Nope 1,0,0
                """, to: "script")
            let message = try desk.fail(65, "apply", "s.shape", "script")
            #expect(message.contains("line 5") && message.contains("Nope"))
            #expect(desk.bytes("s.shape") == before)
            try desk.shell("sed -i s/Nope/Sphere/ script")
            try desk.run("apply", "s.shape", "script", "--dry-run", "--json")
            #expect(desk.bytes("s.shape") == before)
            let report = try JSONValue.read(try desk.run("apply", "s.shape", "script", "--json"))
            #expect(report["changes"]?.elements.count == 3)
            #expect(report["dryRun"] == .boolean(false))
            #expect(try desk.get("s.shape", "Sphere.position") == "1,0,0")
            // All of them are one step.
            try desk.run("undo", "s.shape")
            #expect(desk.bytes("s.shape") == before)
        }
    }

    @Test func `lines that are no edits are named`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            let before = desk.bytes("s.shape")
            for (script, line) in [
                ("title x\nfrob y\n", "line 2"), ("\n\ntitle \"x\n", "line 3"),
                ("title x\nset\n", "line 2"),
            ] {
                let message = try desk.fail(
                    64, "apply", "s.shape", "-", input: Array(script.utf8))
                #expect(message.contains(line), "\(message)")
            }
            try desk.fail(65, "apply", "s.shape", "-", input: [0xff, 0xfe])
            try desk.fail(66, "apply", "s.shape", "missing")
            #expect(desk.bytes("s.shape") == before)
        }
    }

    @Test(arguments: Desk.places)
    func `a dry run says what would change and writes nothing`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "s.shape")
            let before = try desk.shell("stat -c '%i %s %y' s.shape; ls -A")
            let said = try desk.run("set", "s.shape", "Sphere.radius=2", "--dry-run")
            #expect(
                said == "Sphere.radius: 1 -> 2\n(dry run: nothing was written)\n")
            let report = try JSONValue.read(
                try desk.run("set", "s.shape", "Sphere.radius=2", "-n", "--json"))
            #expect(report["dryRun"] == .boolean(true))
            #expect(try desk.shell("stat -c '%i %s %y' s.shape; ls -A") == before)
            try desk.fail(65, "undo", "s.shape")
        }
    }
}
