import Probing
import TestSupport
import Testing

/// What shells offer is what the program knows.
@Suite(.oneAtATime) struct CompletionTests {
    @Test(arguments: ["bash", "zsh", "fish"])
    func `completions know every command, option and value`(_ shell: String) throws {
        try withDesk(.plain) { desk in
            let script = try desk.run("completions", shell)
            for command in try CommandTree().commands {
                for word in command.name.split(separator: " ") {
                    #expect(script.contains(word), "\(command.name)")
                }
                for option in command.options {
                    let spelled = shell == "fish" ? "-l '\(option.dropFirst(2))'" : option
                    let other = "-l \(option.dropFirst(2))"
                    #expect(
                        script.contains(spelled) || script.contains(other),
                        "\(command.name) \(option)")
                }
                for value in command.values.values.joined() {
                    #expect(script.contains(value), "\(command.name) \(value)")
                }
            }
            if isInstalled(shell) {
                try desk.write(script, to: "script")
                try desk.shell("\(shell) -n script")
            }
            let message = try desk.fail(64, "completions", "tcsh")
            #expect(message.contains("zsh"))
        }
    }

    @Test(.enabled(if: isInstalled("bash"), "bash is not installed"))
    func `bash completes commands, options and values`() throws {
        try withDesk(.plain) { desk in
            try desk.write(try desk.run("completions", "bash"), to: "script")
            func completed(_ words: String) throws -> [String] {
                let list = words.split(separator: " ", omittingEmptySubsequences: false)
                let quoted = list.map { "'\($0)'" }.joined(separator: " ")
                try desk.write(
                    """
                    source ./script
                    COMP_WORDS=(\(quoted)); COMP_CWORD=\(list.count - 1)
                    COMP_LINE='\(words)'; COMP_POINT=${#COMP_LINE}
                    _shapeedit shapeedit '\(list.last ?? "")' '\(list.dropLast().last ?? "")'
                    printf '%s\\n' "${COMPREPLY[@]}"
                    """, to: "ask")
                let binary = try BuiltPrograms.shapeedit()
                let said = try desk.shell(
                    "mkdir -p bin; ln -sf '\(binary)' bin/shapeedit; PATH=$PWD/bin:$PATH bash ask")
                return said.split(separator: "\n").map { $0.filter { $0 != " " } }
            }
            #expect(try completed("shapeedit und").contains("undo"))
            #expect(try completed("shapeedit set --dr").contains("--dry-run"))
            #expect(try completed("shapeedit render a.slide --mode ") == ["app", "web"])
            #expect(try completed("shapeedit show a.slide --graphics bl") == ["blocks"])
            #expect(try completed("shapeedit new --template ti") == ["title"])
            #expect(try completed("shapeedit convert a.shape - --to shapeF") == ["shapeFile"])
            #expect(try completed("shapeedit add a.slide rect") == ["rectangle"])
        }
    }

    /// What a command takes of the values that shells offer for one of its options or words.
    private func taken(
        _ command: String, _ option: String, _ isTaken: (String) throws -> Bool
    ) throws -> (taken: [String], offered: [String]) {
        let found = try CommandTree().commands.first { $0.name == command }
        let offered = try #require(found?.values[option], "\(command) offers nothing for \(option)")
        return (try offered.filter(isTaken), offered)
    }

    @Test func `every value that is offered is taken`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "a.shape")
            try desk.run("new", "a.slide")
            func isTaken(_ words: String...) throws -> Bool {
                try desk.shapeedit(words).status == 0
            }
            var (taken, offered) = try taken("render", "--mode") {
                try isTaken("render", "a.slide", "-o", "m.png", "--mode", $0)
            }
            #expect(taken == offered && offered == ["app", "web"])
            (taken, offered) = try self.taken("render", "--format") {
                try isTaken("render", "a.shape", "-o", "picture", "--format", $0)
            }
            #expect(taken == offered)
            #expect(try desk.fail(64, "render", "a.shape", "-o", "x").contains(".obj"))
            (taken, offered) = try self.taken("show", "--graphics") {
                try isTaken("show", "a.shape", "--graphics", $0)
            }
            #expect(taken == offered)
            let message = try desk.fail(64, "show", "a.shape", "--graphics", "no")
            for value in offered { #expect(message.contains(value)) }
            for command in ["edit", "browse"] {
                #expect(try self.taken(command, "--graphics") { _ in true }.offered == offered)
            }
            // A scene becomes not all of them, but all are known.
            (taken, offered) = try self.taken("convert", "--to") {
                try desk.shapeedit(["convert", "a.shape", "-", "--to", $0]).status != 64
            }
            #expect(taken == offered)
        }
    }

    @Test func `every template and kind of a part is offered`() throws {
        try withDesk(.plain) { desk in
            let types = ["shape", "shapeFile", "slide", "list"]
            let templates = try types.flatMap {
                try desk.run("new", "--list-templates", "--type", $0).split(separator: "\n")
            }
            let offered = try taken("new", "--template") { _ in true }.offered
            #expect(Set(offered) == Set(templates.map { String($0) }))
            #expect(Set(offered).count == offered.count)

            let help = try desk.run("help", "add")
            var known: Set<String> = []
            for type in ["shape", "slide", "list"] {
                try desk.run("new", "a.\(type)")
                let (kinds, offered) = try taken("add", "") {
                    try desk.shapeedit(["add", "a.\(type)", $0, "my \($0)"]).status == 0
                }
                #expect(!kinds.isEmpty && kinds.count < offered.count)
                known.formUnion(kinds)
                // The program's own list of what it knows.
                let message = try desk.fail(65, "add", "a.\(type)", "nonsense")
                for kind in kinds {
                    #expect(message.contains(kind) && help.contains(kind), "\(type) \(kind)")
                }
            }
            #expect(try Set(taken("add", "") { _ in true }.offered) == known)
        }
    }
}
