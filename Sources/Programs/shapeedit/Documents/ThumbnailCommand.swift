import ArgumentParser
import DocumentFiles
import DocumentKit
import Glibc
import Model
import PathText
import Pictures
import SystemCalls
import Thumbnailing

/// `shapeedit thumbnail`.
struct ThumbnailCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Write the picture of a document into a PNG file.",
        discussion: """
            In a mounted container the sizes 128, 256, 512 and 1024 are those that are kept with the \
            document's current version; if its picture is being drawn, the command waits for it. The \
            content of a promise is not fetched: it has the picture that is in the store, or none. \
            Other sizes, and files elsewhere, are drawn now: our documents, texts and Markdown by \
            shapeedit-thumbnailer, others by the thumbnailers of this machine.
            """)

    @Argument(help: "The document.", completion: .file())
    var file: String
    @Option(
        name: .shortAndLong, help: "The PNG file to write, or - for standard output.",
        completion: .file())
    var output: String
    @Option(help: "The longest side in pixels, 1 to 1024.")
    var size = 256
    @Flag(
        inversion: .prefixedNo,
        help: "Whether to wait for a picture that is being drawn, or to fail (75).")
    var wait = true
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        guard (1...PictureSize.huge.pixels).contains(size) else {
            throw Failure(.usage, "--size \(size): 1 to \(PictureSize.huge.pixels) pixels")
        }
        let kept = try PictureSize(rawValue: size).flatMap { size throws(Failure) in
            try KeptPicture.read(file, pixels: size.pixels, waits: wait)
        }
        let bytes = try kept ?? drawn()
        try DocumentOutput.draw(of: file, to: output) { (take) throws(Errno) in try take(bytes) }
        if json, !DocumentOutput.isStandardOutput(output) {
            Console.say(
                JSONText.object(
                    "file", at: file,
                    JSONText.path("output", output) + [
                        ("kept", kept == nil ? "false" : "true"), ("bytes", String(bytes.count)),
                    ]))
        }
    }

    private func drawn() throws(Failure) -> [UInt8] {
        let name = file.pathNames.last.map(String.init) ?? file
        try KeptPicture.requireContent(of: file)
        let opened = try open()
        let maker = PictureMaker(program: PictureProgram.path)
        do throws(ThumbnailFailure) {
            return try maker.picture(
                ofFileAt: file, fileName: name, descriptor: opened.number, pixels: size)
        } catch {
            switch error {
            case .ended, .unavailable: throw Failure(.unavailable, "\(file): \(error)")
            // The document is not at fault.
            case .refused
            where !maker.canDraw(PictureType(fileName: name.pathBytes), fileName: name):
                throw Failure(.unavailable, "\(file): \(error)")
            case .refused, .died, .timedOut, .cancelled:
                throw Failure(.badData, "\(file): \(error)")
            }
        }
    }

    private func open() throws(Failure) -> OwnedDescriptor {
        do throws(Errno) {
            let opened = try DrawnFile.open(file)
            switch try opened.status().st_mode & S_IFMT {
            case S_IFREG: return opened
            case S_IFDIR: throw Errno(EISDIR)
            default: break
            }
        } catch { throw Failure(file, error) }
        throw Failure(.noInput, "\(file): not a regular file")
    }
}
