import DocumentKit

/// What the app edits: lines of text.
struct Note: DocumentContents {
    var lines: [Substring] = []

    init() {}
    init(contents: [UInt8]) {
        lines = String(decoding: contents, as: UTF8.self).split(separator: "\n")
    }
    func contents() -> [UInt8] { lines.flatMap { Array($0.utf8) + [10] } }
}

/// A note taker for the terminal: what is typed is added; `undo`, `redo`, `mine`, `theirs` and `both`
/// do what they say; the end of the input closes. What others write shows at once.
@main struct NoteTaker {
    static func main() throws {
        guard let path = CommandLine.arguments.dropFirst().first else {
            return print("usage: note-taker FILE")
        }
        let document = Document<Note>(path) { event in
            switch event {
            case .contentsChanged: print("-- changed")
            case .saved: print("-- saved")
            case .moved(let path): print("-- now at \(path)")
            case .keptCopy(let name): print("-- your text is in \(name)")
            case .stateChanged(let state) where state.contains(.inConflict):
                print("-- others changed it too: mine, theirs or both?")
            case .stateChanged(let state) where state.contains(.savingError):
                print("-- it cannot be saved now")
            case .stateChanged: break
            }
        }
        try document.open(creating: Note())
        show(document)
        while let line = readLine() {
            do {
                switch line {
                case "": show(document)
                case "undo": try document.undo()
                case "redo": try document.redo()
                case "mine": try document.resolve(.mine)
                case "theirs": try document.resolve(.theirs)
                case "both": try document.resolve(.both)
                default: try document.change(named: "Adding") { $0.lines.append(line[...]) }
                }
            } catch { print("-- \(error)") }
        }
        try document.close()
    }

    static func show(_ document: Document<Note>) {
        for line in document.contents?.lines ?? [] { print(line) }
    }
}
