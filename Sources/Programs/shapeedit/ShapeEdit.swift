import ArgumentParser
import Editing
import Model
import PathText
import SystemCalls

#if canImport(Glibc)
import Glibc
#endif

/// The program: a container of documents as a folder.
@main
struct ShapeEdit: ParsableCommand {
    static let version = "0.1"

    static let configuration = CommandConfiguration(
        commandName: "shapeedit",
        abstract: "Documents that are never torn and never lost, as a folder.",
        version: version,
        subcommands: [
            MountCommand.self, UnmountCommand.self, StatusCommand.self, ContainerCommand.self,
            BookmarkCommand.self, RecentsCommand.self, FindCommand.self, WatchCommand.self,
            CompletionsCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Contents",
                subcommands: [
                    ImportCommand.self, EvictCommand.self, MaterializeCommand.self, PinCommand.self,
                    UnpinCommand.self,
                    CancelCommand.self,
                ]),
            CommandGroup(
                name: "Apps",
                subcommands: [
                    GrantCommand.self, RevokeCommand.self, GrantsCommand.self,
                    OpenInPlaceCommand.self, ImportCopyCommand.self,
                ]),
            CommandGroup(
                name: "Coordination", subcommands: [CoordinateCommand.self, ClaimsCommand.self]),
            CommandGroup(
                name: "Documents",
                subcommands: [
                    NewCommand.self, ShowCommand.self, GetCommand.self, ConvertCommand.self,
                    RenderCommand.self, ThumbnailCommand.self, DiffCommand.self,
                    ValidateCommand.self, BrowseCommand.self,
                ]),
            CommandGroup(
                name: "Editing",
                subcommands: [
                    EditCommand.self, VerbCommand<SetVerb>.self, VerbCommand<UnsetVerb>.self,
                    VerbCommand<AddVerb>.self, VerbCommand<RemoveVerb>.self,
                    VerbCommand<RenameVerb>.self, VerbCommand<MoveVerb>.self,
                    VerbCommand<RotateVerb>.self, VerbCommand<ScaleVerb>.self,
                    VerbCommand<ColorVerb>.self, VerbCommand<DuplicateVerb>.self,
                    VerbCommand<OrderVerb>.self, VerbCommand<GroupVerb>.self,
                    VerbCommand<UngroupVerb>.self, CameraCommand.self,
                    VerbCommand<BackgroundVerb>.self, VerbCommand<TitleVerb>.self,
                    VerbCommand<AlignVerb>.self, VerbCommand<DistributeVerb>.self,
                    VerbCommand<ChainVerb>.self, VerbCommand<TextVerb>.self, ListCommand.self,
                    SlideCommand.self, ApplyCommand.self,
                ]),
            CommandGroup(
                name: "History",
                subcommands: [
                    UndoCommand.self, RedoCommand.self, HistoryCommand.self, VersionsCommand.self,
                    RestoreCommand.self, PinVersionCommand.self, UnpinVersionCommand.self,
                    ConflictsCommand.self, ResolveCommand.self,
                ]),
        ])

    /// Runs the command line; exits with a code of sysexits.h.
    static func main() {
        Descriptors.occupyStandard()
        Processes.keepEnds()
        // What was started as /proc/self/exe is "exe" to `ps`, and where those are named who have a document open.
        Threads.rename("shapeedit")
        let words = Array(CommandLine.words.dropFirst())
        if let helper = Helper(words) { return helper.run() }
        let arguments = DashedWords.hidden(MountArguments.normalized(words))
        do {
            try checkHelp(words)
            try checkCommand(words)
            var command = try parseAsRoot(arguments)
            try checkIsComplete(command)
            try RepeatedOptions.check(arguments, of: command)
            try command.run()
        } catch let failure as Failure {
            Console.complain(failure.message)
            Glibc.exit(failure.exitStatus)
        } catch let code as ExitCode {
            // All has been said.
            Glibc.exit(code.rawValue)
        } catch  where exitCode(for: error) == .validationFailure {
            complainOfUsage(error)
            Glibc.exit(Failure.Kind.usage.rawValue)
        } catch  where exitCode(for: error).isSuccess {
            if let word = DashedWords.mistaken(words) {
                Console.complain(
                    "there is no option \(word); for a name that begins so write ./\(word), or -- before it"
                )
                Glibc.exit(Failure.Kind.usage.rawValue)
            }
            // Help and the version come as errors. The parser would not notice that they cannot be
            // written.
            Console.write(Array((fullMessage(for: error) + "\n").utf8))
        } catch {
            exit(withError: error)
        }
    }

    /// A failure for help on what is no command: the parser would tell of all instead.
    private static func checkHelp(_ words: [String]) throws(Failure) {
        guard words.first == "help" else { return }
        var known = configuration.subcommands
        for word in words.dropFirst() where !word.hasPrefix("-") && word != "help" {
            // What follows are actions and the like, of which the command's help tells.
            if known.isEmpty { return }
            guard let command = known.first(where: { $0.configuration.commandName == word }) else {
                throw Failure(
                    .usage, "help: there is no command '\(word)'; `shapeedit --help` lists them")
            }
            known = command.configuration.subcommands
        }
    }

    /// A failure for a first word that is no command: the parser would call all words unexpected. With a
    /// folder behind it the word is a container, unless there is none and a command is nearly called so.
    private static func checkCommand(_ words: [String]) throws(Failure) {
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let word = words.first, !word.isEmpty, !word.hasPrefix("-"),
            word != "help", !names.contains(word)
        else { return }
        // As near to mount, but no one means that.
        let near =
            word == "umount" ? "unmount" : NearNames.nearest(to: word, among: names)
        if MountArguments.normalized(words) != words {
            let isHelper = words.count > 2 && words[2].hasPrefix("-o")
            if isHelper || near == nil || (try? Containers.exists(word)) == true { return }
        }
        throw Failure(
            .usage,
            "there is no command '\(word)'; "
                + (near.map { "did you mean '\($0)'?" } ?? "`shapeedit --help` lists them"))
    }

    /// A failure for the first word of commands of two words without the second.
    private static func checkIsComplete(_ command: any ParsableCommand) throws(Failure) {
        let known = type(of: command).configuration
        guard !(command is ShapeEdit), let name = known.commandName, !known.subcommands.isEmpty
        else { return }
        let names = known.subcommands.compactMap { $0.configuration.commandName }
        throw Failure(
            .usage,
            "\(name): say what to do: \(names.joined(separator: ", ")); see `shapeedit help \(name)`"
        )
    }

    /// What is wrong and what an option is for, how it is right, and where to read more: a line each.
    private static func complainOfUsage(_ error: any Error) {
        var problem = message(for: error).split(separator: "\n").map(String.init)
        var rest: [String] = []
        for line in fullMessage(for: error).split(separator: "\n") {
            if line.hasPrefix("Help: "), let last = problem.popLast() {
                let words = line.trimmingPrefix("Help: ").split(separator: " ")
                problem.append("\(last): \(words.joined(separator: " "))")
            } else if line.hasPrefix("Usage: ") || line.hasPrefix("  See ") {
                rest.append(line.drop { $0 == " " }.description)
            }
        }
        for line in problem + rest { Console.complain(line) }
    }
}
