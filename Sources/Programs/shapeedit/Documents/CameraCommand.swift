import ArgumentParser
import DocumentFiles
import Editing
import Model

/// `shapeedit camera`.
struct CameraCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera",
        abstract: VerbHelp.abstract("camera"),
        usage: VerbHelp.usage("camera") { words in
            let parts = words.split(separator: " ", maxSplits: 1)
            return "camera \(parts.first ?? "") FILE \(parts.dropFirst().first ?? "")"
        }, discussion: VerbHelp.types("camera"))

    static let motions = ["orbit", "pan", "zoom", "reset", "look-at"]

    @OptionGroup var options: EditOptions
    @Argument(help: "orbit, pan, zoom, reset or look-at.", completion: .list(motions))
    var motion: String
    @Argument(help: "The document.", completion: .file())
    var file: String
    @Argument(parsing: .allUnrecognized, help: "How far; see above.")
    var words: [String] = []

    func run() throws {
        // People say it the other way round too, as with the other verbs.
        let isSwapped = !Self.motions.contains(motion) && Self.motions.contains(file)
        guard isSwapped || Self.motions.contains(motion) else {
            throw Failure(
                .usage,
                "camera: neither '\(motion)' nor '\(file)' is a movement; it is one of "
                    + Self.motions.joined(separator: ", "))
        }
        let (motion, typed) = isSwapped ? (self.file, self.motion) : (self.motion, self.file)
        let name = DashedWords.shown(typed)
        let file = try DocumentFile(name, type: try options.documentType)
        let edit = try Edits.one(["camera", motion] + Edits.plain(words))
        options.report(try options.apply([edit], to: file), of: name)
    }
}
