import DocumentKit
import Glibc
import Probing

/// Lines in brackets; half a line is none.
struct Lines: DocumentContents {
    struct Torn: Error {}
    var lines: [String] = []

    init() {}
    init(contents: [UInt8]) throws {
        lines = String(decoding: contents, as: UTF8.self).split(separator: "\n").map(String.init)
        guard contents.isEmpty || contents.last == 10,
            lines.allSatisfy({ $0.first == "<" && $0.last == ">" })
        else { throw Torn() }
    }
    func contents() -> [UInt8] { lines.flatMap { Array($0.utf8) + [10] } }
}

/// Edits a document at random: adds lines and removes its own, saves, undoes, and makes its changes again
/// on what others wrote. At the end all is saved; then it prints which lines are to be there, and what went
/// wrong.
@main struct DocumentEditor {
    private let document: Document<Lines>
    private let name: String
    /// The lines that are to be there at the end.
    private var wanted: [String] = []
    private var count = 0

    static func main() throws {
        let words = CommandLine.arguments
        if words.count == 2 { return try FolderWatcher.watch(words[1]) }
        guard words.count == 5, let seed = UInt64(words[3]), let steps = Int(words[4]) else {
            return print("usage: document-editor FILE NAME SEED STEPS, or FOLDER")
        }
        var random = SplitMix(seed: seed)
        var editor = DocumentEditor(
            document: Document(words[1], quietTime: .milliseconds(50)), name: words[2])
        try editor.document.open()
        for _ in 0..<steps { try editor.goOn { try $0.step(&random) } }
        while editor.document.hasUnsavedChanges || editor.document.conflict != nil {
            try editor.goOn { try $0.document.save() }
        }
        try editor.document.close()
        for line in editor.wanted { print(line) }
    }

    private init(document: Document<Lines>, name: String) {
        self.document = document
        self.name = name
    }

    /// Runs `body`, and takes what others wrote if it was in conflict with that.
    private mutating func goOn(_ body: (inout DocumentEditor) throws -> Void) throws {
        do { try body(&self) } catch DocumentProblem.inConflict {}
        guard let conflict = document.conflict else { return }
        if conflict.theirs == nil { print("cannot be read: \(conflict)") }
        try document.resolve(.theirs)
        try makeAgain()
    }

    /// Its own lines are again those that are to be there.
    private func makeAgain() throws {
        let (own, prefix) = (wanted, "<\(name) ")
        try document.change { contents in
            contents.lines.removeAll { $0.hasPrefix(prefix) && !own.contains($0) }
            contents.lines += own.filter { !contents.lines.contains($0) }
        }
    }

    private mutating func step(_ random: inout SplitMix) throws {
        switch random.below(8) {
        case 0...2:
            count += 1
            let line = "<\(name) \(count)>"
            wanted.append(line)
            try document.change { $0.lines.append(line) }
        case 3:
            guard !wanted.isEmpty else { return }
            let line = wanted.remove(at: random.below(wanted.count))
            try document.change { $0.lines.removeAll { $0 == line } }
        case 4: try document.save()
        // What others wrote may have been loaded in between.
        case 5: if try document.undo(), try !document.redo() { try makeAgain() }
        case 6:
            document.disableEditing()
            defer { document.enableEditing() }
            do {
                try document.change { $0.lines = [] }
                print("changed while that was disabled")
            } catch DocumentProblem.editingDisabled {}
        default: usleep(UInt32(random.below(40_000)))
        }
    }
}
