import ArgumentParser
import DocumentKit
import Model

/// `shapeedit coordinate --write FILE -- COMMAND`.
struct CoordinateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinate", abstract: "Run a command that has documents to itself.",
        discussion: """
            Waits until all the documents can be had, in one step, and holds them until the command \
            ends. Programs that show them are asked to save first. Others that open them meanwhile \
            wait; what the command itself starts does not. Ends with the command's exit status, with \
            127 if there is no such command and 126 if it cannot be run, or with 75 if the documents \
            could not be had in time.
            """)

    @Option(help: "Read this document: others may too, and nobody writes.", completion: .file())
    var read: [String] = []

    @Option(help: "Change this document: nobody else reads or writes it.", completion: .file())
    var write: [String] = []

    @Option(
        help: "Delete this document, or this folder with all that is in it.", completion: .file())
    var delete: [String] = []

    @Option(help: "Move or rename this document or folder.", completion: .file())
    var move: [String] = []

    @Option(help: "Put another document or folder in the place of this.", completion: .file())
    var replace: [String] = []

    @Flag(help: "Do not ask programs that show a document to read to save it first.")
    var withoutSaving = false

    @Option(help: "How long to wait for the documents, in seconds.")
    var timeout: Double = 30

    @Option(
        help: ArgumentHelp(
            "Whose work it is: claims with the same word do not wait for each other.",
            discussion: "Without it the command's own, which what it runs inherits."))
    var purpose: String?

    @Argument(parsing: .postTerminator, help: "The command and its arguments.")
    var command: [String]

    func validate() throws {
        if command.isEmpty { throw ValidationError("no command behind --") }
        guard timeout >= 0, timeout <= 3600 else {
            throw ValidationError("--timeout takes 0 to 3600 seconds")
        }
        if intents.isEmpty {
            throw ValidationError("no document; --read FILE or --write FILE names one")
        }
    }

    func run() throws {
        let word =
            purpose ?? FileCoordinator.inheritedPurpose
            ?? "coordinate \(hexadecimal(UInt64.random(in: .min ... .max)))"
        var status: Int32?
        do {
            try FileCoordinator(purpose: word).coordinateCommand(
                intents, waiting: .seconds(timeout)
            ) { environment in
                status = ChildCommand.run(command, environment: environment)
            }
        } catch let error as CoordinationError {
            guard let status, status != 0 else { throw Failure(error) }
            // The command ran to its end, but perhaps not alone.
            Console.complain(Failure(error).message)
        }
        if let status, status != 0 { throw ExitCode(status) }
    }

    private var intents: [FileIntent] {
        let reading = withoutSaving ? FileAccess.readWithoutChanges : .read
        let targets: [(paths: [String], access: FileAccess)] = [
            (read, reading), (write, .write), (delete, .writeDeleting), (move, .writeMoving),
            (replace, .writeReplacing),
        ]
        return targets.flatMap { target in target.paths.map { FileIntent($0, target.access) } }
    }
}
