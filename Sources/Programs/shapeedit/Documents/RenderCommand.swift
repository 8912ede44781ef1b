import ArgumentParser
import Documents
import Drawing
import Editing
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit render`.
struct RenderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render", abstract: "Draw a document into a file.",
        discussion: """
            The output's name tells the format: .png, .svg and .pdf for every document, .glb, .stl \
            and .obj for those with solids. Solids fill the size, a slide keeps its proportions; \
            those of thumbnails of solids are 834x1024.
            """)

    @Argument(help: "The document, or - for standard input.", completion: .file())
    var file: String
    @Option(
        name: .shortAndLong, help: "The file to write, or - for standard output.",
        completion: .file())
    var output: String
    @Option(
        help: "The format, where the output's name does not tell it.",
        completion: .list(Self.formats))
    var format: String?
    @Option(help: "The size the picture fits into, in pixels: WIDTHxHEIGHT.")
    var size = "1024x768"
    @Option(
        help: "Whose drawing of slides: app, or web for the web editor's, boxes of texts included.",
        completion: .list(["app", "web"]))
    var mode = "app"
    @OptionGroup var typing: TypeOption
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        guard let slideMode = ["app": SlideMode.app, "web": .web][mode] else {
            throw Failure(.usage, "--mode \(mode): it is app or web")
        }
        let size = try Self.pixels(size)
        let format = try chosenFormat()
        let content = try DocumentSource.load(file, type: try typing.documentType)
        if slideMode != .app, content.document.type != .slide {
            throw Failure(
                .usage, "\(file): --mode \(mode) is for slides, and this is none: leave it out")
        }
        for note in content.notes { Console.complain("\(file): \(note)") }
        var count = 0
        let drawing: Drawing
        do throws(DrawingError) {
            drawing = try draw(content.document, format, slideMode)
        } catch { throw Failure(.badData, "\(file): \(error)") }
        var failure: DrawingError?
        do throws(Failure) {
            try DocumentOutput.draw(of: file, to: output) { (take) throws(Errno) in
                func write(_ bytes: [UInt8]) throws(Errno) {
                    count += bytes.count
                    try take(bytes)
                }
                switch drawing {
                case .picture(let picture):
                    failure = try Self.write(picture, as: format, size, write)
                case .model(let model): try model.write(to: write)
                }
                // What is not whole does not get its name.
                if failure != nil { throw Errno(ECANCELED) }
            }
        } catch {
            if let failure { throw Failure(.badData, "\(file): \(failure)") }
            throw error
        }
        if json, !DocumentOutput.isStandardOutput(output) {
            Console.say(
                JSONText.object(
                    "file", at: file,
                    JSONText.path("output", output) + [
                        ("format", JSONText.string(format)), ("bytes", String(count)),
                    ]))
        }
    }

    static let formats = ["png", "svg", "pdf"] + ModelFile.Format.allCases.map(\.rawValue)

    private func chosenFormat() throws(Failure) -> String {
        let ending = output.lastIndex(of: ".").map { output[output.index(after: $0)...] } ?? ""
        let name = (format ?? String(ending)).lowercased()
        guard Self.formats.contains(name) else {
            if let format {
                throw Failure(
                    .usage,
                    "--format \(Failure.shown(format)): it is one of "
                        + Self.formats.joined(separator: ", "))
            }
            throw Failure(
                .usage,
                "\(Failure.shown(output)): the name does not tell a format that can be drawn; "
                    + "end it with one of "
                    + Self.formats.map { "." + $0 }.joined(separator: ", ") + ", or give --format")
        }
        return name
    }

    /// Writes a picture as it is made. Gives the error that it cannot be made with.
    private static func write(
        _ picture: Picture, as format: String, _ size: PixelSize,
        _ write: ([UInt8]) throws(Errno) -> Void
    ) throws(Errno) -> DrawingError? {
        var failure: Errno?
        func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
            do throws(Errno) { try write(Array(bytes)) } catch { failure = error }
            return failure == nil
        }
        do throws(DrawingError) {
            switch format {
            case "pdf": try picture.writePDF(fitting: size, to: take)
            case "svg": try picture.writeSVG(fitting: size, to: take)
            default: try picture.writePNG(fitting: size, to: take)
            }
        } catch {
            if let failure { throw failure }
            return error
        }
        return nil
    }

    /// What is written.
    private enum Drawing {
        case picture(Picture)
        case model(ModelFile)
    }

    private func draw(
        _ document: EditableDocument, _ format: String, _ mode: SlideMode
    ) throws(DrawingError) -> Drawing {
        let picture = DocumentPicture.picture(of: document, named: file, mode: mode)
        guard let kind = ModelFile.Format(rawValue: format) else { return .picture(picture) }
        guard case .scene(let scene) = picture else {
            throw .notRepresentable("only documents with solids can become .\(format)")
        }
        return .model(try ModelFile(scene, as: kind))
    }

    static func pixels(_ text: String) throws(Failure) -> PixelSize {
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]) else {
            throw Failure(.usage, "--size \(text): two numbers are expected, such as 1024x768")
        }
        do throws(DrawingError) { return try PixelSize(width: width, height: height) } catch {
            throw Failure(.usage, "--size \(text): \(error)")
        }
    }
}

/// The picture of a document of any type.
enum DocumentPicture {
    /// - Parameter name: the file's, which is the title of a list.
    static func picture(
        of document: EditableDocument, named name: String, mode: SlideMode
    ) -> Picture {
        switch document {
        case .scene(let scene): return .scene(scene)
        case .shapeFile(let file): return .scene(Scene.converted(from: file).scene)
        case .slide(let slide): return .slide(slide, mode)
        case .list(let list): return .list(list, title: title(name))
        }
    }

    /// A file's name without folders and ending.
    private static func title(_ name: String) -> String? {
        let last = (name.pathNames.last.map(String.init) ?? name).repairedPath
        guard last != "-" else { return nil }
        return last.lastIndex(of: ".").map { String(last[..<$0]) } ?? last
    }
}
