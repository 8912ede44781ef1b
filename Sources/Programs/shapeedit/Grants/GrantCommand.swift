import ArgumentParser
import Model

/// `shapeedit grant`.
struct GrantCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Let an app use a document of another container.",
        discussion: """
            The app is the container of its name, mounted with `shapeedit mount --app`. It sees the \
            document in the folder "in CONTAINER" and works on it in place, whatever the document is \
            called and wherever it is moved. It sees nothing else of the container. Granting again \
            changes what was granted.
            """)

    @Argument(
        help: "The document: a file in a mount, or CONTAINER:PATH.", completion: .file())
    var document: String
    @Option(help: ArgumentHelp("The app.", valueName: "app"), completion: .containers)
    var to: String
    @Flag(help: "It may change the document, too.") var write = false
    @Option(
        help: ArgumentHelp(
            "When the grant ends: 90s, 15m, 2h, 7d from now, 2026-12-24 or 2026-12-24T18:00.",
            valueName: "time"))
    var until: GrantEnd?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try until?.check()
        let subject = try GrantSubject(document)
        let terms = GrantTerms(access: write ? .write : .read, until: until?.timestamp)
        try subject.grant(to: to, terms)
        Console.say(
            line: json
                ? JSONText.object(
                    "document", at: document,
                    [
                        ("container", JSONText.string(subject.container)),
                        ("app", JSONText.string(to)),
                        ("access", JSONText.string(terms.access.text)),
                        ("until", JSONText.string(terms.until?.exactText)),
                    ])
                : "\(document): \(to) may \(terms.access.text)\(Self.end(until))")
    }

    /// When it ends, as part of a sentence.
    static func end(_ until: GrantEnd?) -> String {
        until.map { " until " + HistoryReport.time(seconds: $0.seconds) } ?? ""
    }
}

/// `shapeedit revoke`.
struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Take a grant away, also from what is open.",
        discussion: """
            Without --to from all apps. What an app has open fails at its next read or write.
            """)

    @Argument(
        help: "The document: a file in a mount, or CONTAINER:PATH.", completion: .file())
    var document: String
    @Option(help: ArgumentHelp("The app.", valueName: "app"), completion: .containers)
    var to: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let revoked = try GrantSubject(document).revoke(from: to)
        if let to, revoked.isEmpty {
            throw Failure(.noInput, "\(document): nothing is granted to \(to)")
        }
        if json {
            Console.say(
                JSONText.object(
                    "document", at: document,
                    [("revoked", JSONText.array(revoked.map(JSONText.string)))]))
        } else if revoked.isEmpty {
            Console.say(line: "\(document): nothing was granted")
        } else {
            for app in revoked { Console.say(line: "\(document): revoked from \(app)") }
        }
    }
}

/// `shapeedit grants`.
struct GrantsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants", abstract: "List what is granted to apps.")

    @Argument(help: "Only what this container grants.") var container: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let names: [String] = try container.map { [$0] } ?? Containers.names()
        // What one container does not tell keeps nobody from what the others do.
        var problems: [Failure] = []
        let grants = names.flatMap { name -> [ListedGrant] in
            do throws(Failure) {
                return try ListedGrant.all(of: name).sorted {
                    ($0.path, $0.application) < ($1.path, $1.application)
                }
            } catch {
                Console.complain(error.message)
                problems.append(error)
                return []
            }
        }
        // Who reads it is not to take what could not be asked for nothing.
        if problems.isEmpty || problems.count < names.count { report(grants) }
        if let problem = problems.first { throw ExitCode(problem.exitStatus) }
    }

    private func report(_ grants: [ListedGrant]) {
        if json {
            Console.say(JSONText.array(grants.map(\.json)))
            return
        }
        for grant in grants {
            let end = grant.until.map { " until " + HistoryReport.time(told: $0) } ?? ""
            let what = "\(grant.application) may \(grant.access)\(end)"
            Console.say(line: "\(grant.container):\(grant.path)  \(what)")
        }
    }
}
