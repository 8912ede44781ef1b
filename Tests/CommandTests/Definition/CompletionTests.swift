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

    /// What is typed, and what the shell makes of it.
    private static let typed = [
        ("shapeedit und", "undo"), ("shapeedit set --dr", "--dry-run"),
        ("shapeedit render a.slide --mode w", "web"),
        ("shapeedit show a.slide --graphics bl", "blocks"),
        ("shapeedit new --template ti", "title"),
        ("shapeedit convert a.shape - --to shapeF", "shapeFile"),
        ("shapeedit add a.slide rect", "rectangle"), ("shapeedit container de", "delete"),
        ("shapeedit list tog", "toggle"), ("shapeedit container info photo-al", "photo-albums"),
        ("shapeedit container move-store photo-al", "photo-albums"),
        ("shapeedit grant a.slide --to photo-al", "photo-albums"),
        ("shapeedit mount --app photo-al", "photo-albums"),
    ]

    @Test(.enabled(if: isInstalled("bash"), "bash is not installed"))
    func `bash completes commands, options and values`() throws {
        try withDesk(.plain) { desk in
            for (words, whole) in Self.typed {
                let found = try bash(words, at: desk)
                #expect(found == [whole])
            }
        }
    }

    @Test(.enabled(if: isInstalled("bash"), "bash is not installed"))
    func `bash completes the names of files and folders where they are meant`() throws {
        try withDesk(.plain) { desk in
            try desk.shell("mkdir folder; touch fold.shape")
            let files = [
                "new", "edit", "show", "set", "camera orbit", "list add", "list check", "convert",
                "render a.shape -o", "thumbnail a.shape --output", "undo", "restore", "watch",
            ]
            for words in files {
                let found = try bash("shapeedit \(words) fol", at: desk)
                #expect(Set(found) == ["folder", "fold.shape"], "\(words)")
            }
            let folders = [
                "browse", "mount", "mount default", "unmount", "list today --in",
                "slide import-bulk a.json", "find", "recents",
            ]
            for words in folders {
                #expect(try bash("shapeedit \(words) fol", at: desk) == ["folder"], "\(words)")
            }
        }
    }

    @Test(.enabled(if: isInstalled("fish"), "fish is not installed"))
    func `fish completes commands, options and values`() throws {
        try withDesk(.plain) { desk in
            for (words, whole) in Self.typed {
                let said = try complete(
                    "source ./script; complete -C '\(words)'", by: "fish", "--no-config ./ask",
                    at: desk)
                // What it is stands behind a tab.
                #expect(
                    said.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == [whole[...]])
            }
        }
    }

    /// Typed at a prompt: it completes there only.
    @Test(.enabled(if: isInstalled("zsh"), "zsh is not installed"))
    func `zsh completes commands, options and values`() throws {
        try withDesk(.plain) { desk in
            let lines = Self.typed.map { "type '\($0.0)'\n" }.joined()
            let said = try complete(
                """
                mkdir -p functions; cp script functions/_shapeedit
                zmodload zsh/zpty
                zpty shell zsh -f -i
                zpty -w shell "PS1=; fpath=($PWD/functions \\$fpath); autoload -Uz compinit"
                zpty -w shell "zstyle ':completion:*' insert-tab false; compinit -u -d dump"
                # A key that completes, and says what the line is then: on the screen it is drawn in parts.
                zpty -w shell 'ask() { zle complete-word; print -r -- "<""$BUFFER"">"; BUFFER= }'
                zpty -w shell "zle -N ask; bindkey '^T' ask; print rea''dy"
                zpty -r -m shell seen '*ready*'
                type() {
                    zpty -w -n shell "$1"$'\\C-t'
                    zpty -r -m shell seen '*<*>*'
                    print -r -- "${${seen##*<}%%>*}"
                }
                \(lines)
                """, by: "zsh", "-f ./ask", at: desk)
            let found = said.split(separator: "\n")
            #expect(found.count == Self.typed.count, "\(said)")
            for ((words, whole), line) in zip(Self.typed, found) {
                let begun = words.split(separator: " ").dropLast().joined(separator: " ")
                #expect(line.split(separator: " ").joined(separator: " ") == "\(begun) \(whole)")
            }
        }
    }

    /// What bash offers for the last of some words with a blank between each.
    private func bash(_ words: String, at desk: Desk) throws -> [String] {
        let list = words.split(separator: " ")
        let quoted = list.map { "'\($0)'" }.joined(separator: " ")
        let said = try complete(
            """
            source ./script
            COMP_WORDS=(\(quoted)); COMP_CWORD=\(list.count - 1)
            COMP_LINE='\(words)'; COMP_POINT=${#COMP_LINE}
            _shapeedit shapeedit '\(list.last ?? "")' '\(list.dropLast().last ?? "")'
            printf '%s\\n' "${COMPREPLY[@]}"
            """, by: "bash", "./ask", at: desk)
        return said.split(separator: "\n").map { $0.filter { $0 != " " } }
    }

    /// Runs a script of a shell, with what completes for it beside as `script`.
    private func complete(
        _ ask: String, by shell: String, _ arguments: String, at desk: Desk
    ) throws -> String {
        try desk.write(try desk.run("completions", shell), to: "script")
        try desk.write(ask, to: "ask")
        let binary = try BuiltPrograms.shapeedit()
        return try desk.shell(
            """
            mkdir -p bin; ln -sf '\(binary)' bin/shapeedit
            export HOME=$PWD XDG_DATA_HOME=$PWD/data TERM=dumb PATH=$PWD/bin:$PATH
            [ -d data ] || shapeedit container create photo-albums > made
            \(shell) \(arguments)
            """)
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
            for name in ["half-blocks", "iterm2", "iTerm2", "Sixel"] {
                #expect(try isTaken("show", "a.shape", "--graphics=\(name)"), "\(name)")
            }
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
