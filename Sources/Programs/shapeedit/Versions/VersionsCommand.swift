import ArgumentParser
import DocumentFiles
import Model

/// `shapeedit versions`.
struct VersionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "List the versions of a document in a mount.",
        discussion: """
            Oldest first, the current one with a star. All of the last hour stay, one an hour for a \
            day and one a day for a month; fewer when space is short, and always what is pinned. \
            They are files below .shapeedit/versions in the mount.
            """)

    @Argument(help: "The document, a file of any kind.", completion: .file())
    var file: String
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let versions = try DocumentVersions(file).list()
        if json {
            Console.say(
                JSONText.object(
                    "file", at: file,
                    [("versions", JSONText.array(versions.map(VersionReport.json)))]))
            return
        }
        let width = versions.map(\.name.count).max() ?? 0
        for version in versions {
            Console.say(line: VersionReport.line(version, nameWidth: width))
        }
    }
}
