import ArgumentParser
import DocumentFiles
import Drawing
import Editor
import Model
import SystemCalls
import Terminal

/// `shapeedit edit`.
struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit a document on the whole screen of the terminal.",
        discussion: """
            ? shows the keys. What you do is saved when you pause and when you leave with q; what \
            others do to the document meanwhile is shown at once and kept. Where the terminal can \
            show pictures, the document is drawn beside the list of its parts.
            """)

    @Argument(help: "The document.", completion: .file())
    var file: String
    @OptionGroup var typing: TypeOption
    @OptionGroup var graphics: GraphicsOption

    func run() throws {
        let wanted = try graphics.wanted
        let terminal = Containers.environment("TERM") ?? ""
        do throws(TerminalError) { try TerminalDevice.check(terminal: terminal) } catch {
            throw Self.failure(error)
        }
        let document = try DocumentFile(file, type: try typing.documentType)
        let loaded = try ArrivalLine.shown(document) { (file) throws(Failure) in try file.load() }
        let inbox: EventInbox<EditorEvent>
        do throws(Errno) { inbox = try EventInbox<EditorEvent>() } catch {
            throw Failure(.system, "edit: \(error)")
        }
        if let problem = DrawingLibraries.load() { throw Failure(.unavailable, problem) }
        let device: TerminalDevice
        do throws(TerminalError) { device = try TerminalDevice(terminal: terminal) } catch {
            throw Self.failure(error)
        }
        var run = EditorRun(device, document, loaded, wanted, inbox)
        try run.loop()
    }

    private static func failure(_ error: TerminalError) -> Failure {
        switch error {
        case .notATerminal, .otherTerminal: Failure(.usage, "edit: \(error)")
        case .dumb, .system: Failure(.unavailable, "edit: \(error)")
        }
    }
}
