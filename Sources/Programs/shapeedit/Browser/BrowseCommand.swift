import ArgumentParser
import Browser
import DocumentFiles
import DocumentKit
import Drawing
import Glibc
import Model
import PathText
import SystemCalls
import Terminal

/// `shapeedit browse`.
struct BrowseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Look through the documents of a folder, with pictures.",
        discussion: """
            Shows all documents in the folder and below it on the whole screen of the terminal: those \
            that were viewed lately and all by name. Letters you type narrow them down by their names \
            and titles, Enter opens the editor, F1 shows the keys. In a mounted container nothing is \
            downloaded for the pictures. Of more than 20,000 documents or 2,000 folders the nearest \
            are shown, with a + behind their number; what you type is looked for in the names of all \
            documents in these folders. `shapeedit find` knows all of a mount.
            """)

    @Argument(help: "The folder; the current one if none is given.", completion: .directory)
    var folder = "."
    @OptionGroup var graphics: GraphicsOption

    func run() throws {
        let wanted = try graphics.wanted
        let terminal = Containers.environment("TERM") ?? ""
        do throws(TerminalError) { try TerminalDevice.check(terminal: terminal) } catch {
            throw Self.failure(error)
        }
        let path = try resolved()
        let inbox: EventInbox<BrowserEvent>
        let tree: BrowsedTree
        do throws(Errno) {
            inbox = try EventInbox()
            // Now, so that a folder that cannot be read is told of before the screen is taken.
            _ = try Directories.names(in: path)
            tree = BrowsedTree(path)
        } catch {
            throw Failure(folder, error)
        }
        if let problem = DrawingLibraries.load() { throw Failure(.unavailable, problem) }
        let device: TerminalDevice
        do throws(TerminalError) { device = try TerminalDevice(terminal: terminal) } catch {
            throw Self.failure(error)
        }
        var run = BrowserRun(device, tree, wanted, inbox)
        try run.loop()
    }

    private func resolved() throws(Failure) -> String {
        var status = stat()
        guard stat(folder.cPath, &status) == 0, let path = MountTable.resolved(folder) else {
            throw Failure(folder, Errno.last)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(.noInput, "\(folder): it is not a folder")
        }
        return path
    }

    private static func failure(_ error: TerminalError) -> Failure {
        switch error {
        case .notATerminal(let which):
            Failure(
                .usage, "browse: \(which) is not a terminal; use `find` and `recents` in scripts")
        case .otherTerminal: Failure(.usage, "browse: \(error)")
        case .dumb, .system: Failure(.unavailable, "browse: \(error)")
        }
    }
}
