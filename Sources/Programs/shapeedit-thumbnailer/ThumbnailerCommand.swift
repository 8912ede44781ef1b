import ArgumentParser
import CWorkerShim
import Glibc
import PathText
import SystemCalls
import Thumbnailing

/// The program that draws thumbnails: for file managers, and for ShapeEdit itself as a worker.
@main
struct ThumbnailerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shapeedit-thumbnailer",
        abstract:
            "Draws the thumbnail of a ShapeEdit document, text or Markdown file as a PNG file."
    )

    @Argument(help: "The document: a path or a file: address.") var input: String?
    @Argument(help: "The PNG file to write.") var output: String?
    @Argument(help: "The longest side in pixels, 1 to 1024.") var size: Int?

    @Option(help: "What the document is, instead of what its name tells: \(Self.typeNames).")
    var type: String?
    @Option(help: "What to call the document, instead of its file's name.") var title: String?
    @Option(help: "Written to the PNG file as Thumb::URI.") var uri: String?
    @Option(help: "Written to the PNG file as Thumb::MTime: seconds since 1970.") var mtime: Int64?
    @Flag(
        help: ArgumentHelp(
            "Draws what comes over the socket on standard input.", visibility: .hidden))
    var worker = false

    /// EX_IOERR of sysexits.h, which does not import.
    private static let inputOutput: Int32 = 74

    /// With all bytes of the arguments.
    static func main() {
        Descriptors.occupyStandard()
        Processes.keepEnds()
        do {
            var command = try parseAsRoot(Array(CommandLine.words.dropFirst()))
            try command.run()
        } catch  where exitCode(for: error).isSuccess {
            // Help comes as an error. The parser would not notice that it cannot be written.
            say(fullMessage(for: error))
        } catch {
            exit(withError: error)
        }
    }

    private static func say(_ text: String) {
        do throws(Errno) {
            try Descriptors.write(Array("\(text)\n".utf8), to: Descriptors.output)
        } catch {
            let problem = "shapeedit-thumbnailer: standard output: \(error)\n"
            try? Descriptors.write(Array(problem.utf8), to: Descriptors.error)
            Glibc.exit(inputOutput)
        }
    }

    private static var typeNames: String {
        DrawnType.allCases.map { "\($0)" }.joined(separator: ", ")
    }

    func validate() throws {
        guard !worker else { return }
        guard input != nil, output != nil, let size else {
            throw ValidationError("an input, an output and a size are needed")
        }
        guard Rendering.sides.contains(size) else {
            throw ValidationError("sizes are 1 to \(Rendering.sides.upperBound)")
        }
        guard type == nil || Self.type(named: type) != nil else {
            throw ValidationError("types are \(Self.typeNames)")
        }
    }

    func run() throws {
        if worker { return try Service.run(over: STDIN_FILENO) }
        guard let input, let output, let size else { return }
        _ = Lockdown.limit()
        _ = shim_processor_limit(Lockdown.processorSeconds)
        try draw(input, to: output, size)
    }

    private func draw(_ input: String, to output: String, _ size: Int) throws {
        let path = try DocumentInput.path(of: input)
        let name = (path.split(separator: "/").last.map(String.init) ?? path).repairedPath
        guard let type = Self.type(named: type) ?? DrawnType(fileName: name) else {
            throw Rendering.Problem(
                description: "\(name): its name does not tell what it is; give --type")
        }
        let bytes = try DocumentInput.bytes(at: path, part: Rendering.part(of: type))
        let picture = try Rendering.png(
            bytes, type: type, size: size, title: title ?? Self.title(fileName: name))
        var texts: [(key: String, value: String)] = []
        if let uri { texts.append(("Thumb::URI", uri)) }
        if let mtime { texts.append(("Thumb::MTime", String(mtime))) }
        if !texts.isEmpty { texts.append(("Software", "ShapeEdit")) }
        let file = texts.isEmpty ? picture : PNGFile(picture)?.bytes(texts: texts) ?? picture
        try Self.write(file, to: output)
    }

    /// What GNOME calls every file in the sandbox in which it has it drawn, but for the name's end.
    private static let namelessFile = "gnome-desktop-file-to-thumbnail"

    /// What a document is called by its file's name; nothing where that is not its own.
    private static func title(fileName name: String) -> String {
        let end = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
        let title = String(name[..<(end ?? name.endIndex)])
        return title == namelessFile ? "" : title
    }

    /// The file managers name a file of their own, which may exist and belong to them. It may be a pipe, too.
    private static func write(_ bytes: [UInt8], to path: String) throws {
        do throws(Errno) {
            let file = try OwnedDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
            try Descriptors.write(bytes, to: file.number)
        } catch {
            throw Rendering.Problem(description: "\(path.repairedPath): \(error)")
        }
    }

    private static func type(named name: String?) -> DrawnType? {
        DrawnType.allCases.first { "\($0)" == name }
    }
}
