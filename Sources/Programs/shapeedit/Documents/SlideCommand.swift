import ArgumentParser
import DocumentFiles
import Documents
import Editing
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit slide`.
struct SlideCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slide", abstract: "Work with files of many slides.",
        subcommands: [ImportBulkCommand.self])
}

/// `shapeedit slide import-bulk`.
struct ImportBulkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-bulk", abstract: "Make a slide of each one in a bulk file.",
        discussion: """
            The slides are called as the bulk file says, with a number. None is made if one of the \
            names is taken. A bulk file of addresses is only listed: nothing is fetched.
            """)

    @Argument(help: "The bulk file, or - for standard input.", completion: .file())
    var file: String
    @Argument(help: "The folder to make the slides in.", completion: .directory)
    var folder = "."
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let bytes =
            file == "-" ? try DocumentSource.standardInput() : try DocumentSource.bytes(of: file)
        let bulk: SlideBulkFile
        do throws(DocumentError) {
            let (read, repairs) = try SlideBulkFile.read(bytes)
            for repair in repairs { Console.complain("\(file): \(repair)") }
            bulk = read
        } catch { throw Failure(.badData, "\(file): \(error)") }
        switch bulk.entries {
        case .addresses(let addresses):
            if json {
                Console.say(
                    JSONText.object([
                        ("made", "[]"),
                        ("addresses", JSONText.array(addresses.map(JSONText.string))),
                    ]))
            } else {
                for address in addresses { Console.say(line: address) }
            }
        case .slides(let slides):
            if slides.isEmpty {
                Console.complain("\(file): version \(bulk.version) has no slides; none is made")
            }
            try make(slides, bulk)
        }
    }

    private func make(_ slides: [Slide], _ bulk: SlideBulkFile) throws(Failure) {
        let paths = slides.indices.map { folder + "/" + bulk.fileName($0 + 1) }
        for path in paths where FileStamp(path: path) != nil {
            throw Failure(.cannotCreate, "\(path) exists already; nothing was made")
        }
        var made: [String] = []
        do throws(Failure) {
            for (path, slide) in zip(paths, slides) {
                try DocumentFile.create(path, .slide(slide))
                made.append(path)
            }
        } catch {
            // A name that was taken meanwhile, or the disk is full: all or none.
            for path in made { unlink(path.cPath) }
            throw error
        }
        if !json {
            for path in made { Console.say(line: "made \(path)") }
        } else {
            Console.say(
                JSONText.object([
                    ("made", JSONText.array(paths.map(JSONText.string))), ("addresses", "[]"),
                ]))
        }
    }
}
