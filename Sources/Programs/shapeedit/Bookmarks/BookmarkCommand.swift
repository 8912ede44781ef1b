import ArgumentParser
import Coordination
import DocumentFiles
import DocumentKit
import Glibc
import Model
import SystemCalls

/// `shapeedit bookmark ...`.
struct BookmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookmark", abstract: "Find a document again wherever it goes.",
        discussion: """
            A bookmark's token leads to its document after renaming, moving, saving by any program \
            and mounting again, also while the container is not mounted. With --app it is for that \
            application only. Nobody can make one up, and it can be revoked.
            """,
        subcommands: [Create.self, Resolve.self, List.self, Revoke.self])

    /// What a token is given as.
    struct Subject: ParsableArguments {
        @Argument(help: "The token.") var token: String
        @OptionGroup var application: Application
        @Flag(help: "Print JSON.") var json = false
    }

    struct Application: ParsableArguments {
        @Option(
            name: .customLong("app"),
            help: ArgumentHelp(
                "The application it is for, as in org.example.Editor.", valueName: "name"))
        var name: String?

        func validate() throws {
            if let name, !BookmarkRow.isApplication(name) {
                throw ValidationError(
                    "--app \(name): 1 to 100 letters, digits, dots, dashes and underscores")
            }
        }
    }

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Print a token of a document in a mount.",
            discussion: """
                A document has one bookmark for each application: making it again gives a token \
                that is not stale, and earlier ones go on working.
                """)
        @Argument(help: "The document, a file of any kind.", completion: .file()) var file: String
        @OptionGroup var application: Application
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            var status = stat()
            guard stat(file.cPath, &status) == 0 else { throw Failure(file, Errno.last) }
            let token = try NamedToken.mounted { () throws(BookmarkProblem) in
                try MountedBookmarks.create(file, for: application.name ?? "")
            }
            Console.say(
                json
                    ? JSONText.object(
                        "file", at: file,
                        [
                            ("app", JSONText.string(application.name)),
                            ("token", JSONText.string(token)),
                        ]) : token)
        }
    }

    struct Resolve: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resolve",
            abstract: "Print where a token's document is.",
            discussion: """
                Its path where it is mounted, else CONTAINER:PATH. A stale token (the document was \
                elsewhere when it was made) is told on standard error; it goes on working.
                """)
        @OptionGroup var subject: Subject

        func run() throws {
            let token = try NamedToken(subject.token)
            let found = try token.resolve(for: subject.application.name ?? "")
            if subject.json {
                var members = [("container", JSONText.string(token.container))]
                members += JSONText.path("path", found.path)
                members += JSONText.path("mountPoint", found.mountPoint)
                members += [
                    ("document", JSONText.string(token.token.document.description)),
                    ("stale", found.isStale ? "true" : "false"),
                ]
                return Console.say(JSONText.object(members))
            }
            if found.isStale {
                Console.complain("the document has moved since the token was made")
            }
            Console.say(
                path: found.mountPoint.map { $0 + "/" + found.path }
                    ?? token.container + ":" + found.path)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the bookmarks of all containers, or of one.")
        @Argument(help: "Only those of this container.", completion: .containers)
        var container: String?
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            let names: [String] = try container.map { [$0] } ?? Containers.names()
            let bookmarks = try names.flatMap { name in
                try ListedBookmark.all(of: name).map { (container: name, bookmark: $0) }
            }
            if json {
                Console.say(
                    JSONText.array(
                        bookmarks.map { name, bookmark in
                            JSONText.object(
                                "path", at: bookmark.path,
                                [
                                    ("container", JSONText.string(name)),
                                    ("app", JSONText.string(bookmark.application)),
                                    ("token", JSONText.string(name + "." + bookmark.digits)),
                                ])
                        }))
                return
            }
            for (name, bookmark) in bookmarks {
                let application = bookmark.application.map { "  for \($0)" } ?? ""
                Console.say(line: "\(name):\(bookmark.path)\(application)")
                Console.say("  \(name).\(bookmark.digits)")
            }
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Take a bookmark away: all its tokens lead nowhere from now on.",
            discussion: "Without --app whichever application it is for.")
        @OptionGroup var subject: Subject

        func run() throws {
            let token = try NamedToken(subject.token)
            try token.revoke(for: subject.application.name)
            Console.say(
                subject.json
                    ? JSONText.object([("revoked", JSONText.string(subject.token))]) : "revoked")
        }
    }
}
