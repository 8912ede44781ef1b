import ArgumentParser
import Control
import Documents
import Model

/// `shapeedit coordinate --write FILE -- COMMAND`.
struct CoordinateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinate", abstract: "Run a command that has documents to itself.",
        discussion: """
            Waits until all the documents can be had, in one step, and holds them until the command \
            ends. Programs that show them are asked to save first. Others that open them meanwhile \
            wait; what the command itself starts does not. Ends with the command's exit status, or \
            with 75 if the documents could not be had in time.
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

    func run() throws {
        if command.isEmpty { throw ValidationError("no command behind --") }
        guard timeout >= 0, timeout <= 3600 else {
            throw ValidationError("--timeout takes 0 to 3600 seconds")
        }
        let targets = try self.targets()
        guard let point = targets.first?.place.mountPoint else {
            throw ValidationError("no document; --read FILE or --write FILE names one")
        }
        if let other = targets.first(where: { $0.place.mountPoint != point }) {
            throw Failure(
                .usage,
                "\(other.place.mountPoint) and \(point) are two mounts: documents of one can be "
                    + "had in one step")
        }
        let connection = try ControlConnection(mountPoint: point)
        let word =
            purpose ?? Containers.environment(Self.variable)
            ?? "coordinate \(hexadecimal(UInt64.random(in: .min ... .max)))"
        let milliseconds = Int(timeout * 1000)
        let claim = try connection.call(
            "Claim",
            [
                "targets": .array(
                    targets.map {
                        .object([
                            "path": .string($0.place.relative), "access": .string($0.access),
                        ])
                    }), "purpose": .string(word), "timeoutMilliseconds": .integer(milliseconds),
            ], patience: milliseconds + ControlConnection.patience)
        let status = try ChildCommand.run(command, environment: [Self.variable: word])
        do throws(Failure) {
            _ = try connection.call("Release", ["claim": claim["claim"] ?? .null])
        } catch {
            // The command ran to its end, but perhaps not alone.
            Console.complain("the claim ended before the command: \(error)")
            if status == 0 { throw ExitCode(Failure.Kind.temporary.rawValue) }
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// How a command that runs under a claim learns its purpose.
    private static let variable = "SHAPEEDIT_PURPOSE"

    private func targets() throws(Failure) -> [(place: MountedPath, access: String)] {
        var list: [(place: MountedPath, access: String)] = []
        for (paths, access) in [
            (read, withoutSaving ? "readWithoutChanges" : "read"), (write, "write"),
            (delete, "writeDeleting"), (move, "writeMoving"), (replace, "writeReplacing"),
        ] {
            for path in paths { list.append((try MountedPath(path), access)) }
        }
        return list
    }
}
