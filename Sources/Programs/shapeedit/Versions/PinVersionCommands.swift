import ArgumentParser
import DocumentFiles
import Model

/// `shapeedit pin-version`.
struct PinVersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin-version", abstract: "Keep an earlier version of a document.",
        discussion: """
            It stays whatever its age and however full the disk is, until it is unpinned or the \
            document is deleted. The current version can be pinned ahead.
            """)

    @OptionGroup var target: VersionTarget

    func run() throws { try target.pin(true) }
}

/// `shapeedit unpin-version`.
struct UnpinVersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin-version", abstract: "Let an earlier version go when its time comes.")

    @OptionGroup var target: VersionTarget

    func run() throws { try target.pin(false) }
}

/// A version of a document.
struct VersionTarget: ParsableArguments {
    @Argument(help: "The document, a file of any kind.", completion: .file())
    var file: String
    @Argument(
        help: "The version as `shapeedit versions` names it, or the beginning of its file's name.")
    var version: String
    @Flag(help: "Print JSON.")
    var json = false

    func pin(_ isPinned: Bool) throws {
        let version = try DocumentVersions(file).pin(version, isPinned)
        Console.say(
            line: json
                ? JSONText.object(
                    "file", at: file,
                    [("version", VersionReport.json(version))])
                : "\(file): version \(version.name) \(isPinned ? "stays" : "goes when its time comes")"
        )
    }
}
