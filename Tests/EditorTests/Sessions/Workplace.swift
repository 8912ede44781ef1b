import Documents
import Glibc
import Probing
import TestSupport

/// A folder with a document, and the program to edit it.
final class Workplace {
    let folder: String
    let file: String
    let program: String
    let environment: [String: String]

    init(_ name: String, _ document: some WritableDocument, in folder: String? = nil) throws {
        self.folder = try TemporaryDirectory.make(below: folder)
        file = "\(self.folder)/\(name)"
        program = try BuiltPrograms.shapeedit()
        environment = [
            "TERM": "xterm-256color", "HOME": self.folder,
            "XDG_STATE_HOME": "\(self.folder)/.state",
            "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": self.folder,
        ]
        try write(document)
    }

    deinit { TemporaryDirectory.remove(folder) }

    /// Replaces the document at once, as another program does.
    func write(_ document: some WritableDocument) throws {
        let bytes = try document.bytes
        let temporary = file + ".new"
        let stream = fopen(temporary, "w")
        fwrite(bytes, 1, bytes.count, stream)
        fclose(stream)
        rename(temporary, file)
    }

    /// What is in the file.
    var bytes: [UInt8] { Workplace.bytes(file) }

    static func bytes(_ path: String) -> [UInt8] {
        guard let stream = fopen(path, "r") else { return [] }
        defer { fclose(stream) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        return Array(buffer[..<fread(&buffer, 1, buffer.count, stream)])
    }

    var scene: Scene { (try? Scene.read(bytes)) ?? Scene() }
    var names: [String] { scene.nodes.map(\.name) }
    var kinds: [SolidKind] {
        scene.nodes.compactMap { if case .solid(let solid) = $0 { solid.shape.kind } else { nil } }
    }

    /// Names in the folder that hold a word.
    func names(with word: String) throws -> [String] {
        try run(["ls", folder]).text.split(separator: "\n").map(String.init).filter {
            $0.contains(word)
        }
    }

    /// A shell with jobs on a terminal.
    func shell() throws -> PseudoTerminal {
        try PseudoTerminal(["bash", "--norc", "--noediting", "-i"], environment: environment)
    }

    /// Edits from the command line.
    func edit(_ words: String...) throws -> ProgramResult {
        try run([program] + words, environment: environment)
    }

    func start(
        columns: Int = 80, rows: Int = 24, terminal: String = "xterm-256color",
        options: [String] = []
    ) throws -> PseudoTerminal {
        var environment = environment
        environment["TERM"] = terminal
        return try PseudoTerminal(
            [program, "edit", file] + options, environment: environment, columns: columns,
            rows: rows)
    }
}

/// A document that tests write.
protocol WritableDocument {
    var bytes: [UInt8] { get throws }
}

extension Scene: WritableDocument {
    var bytes: [UInt8] { get throws { try text(replacing: nil) } }
}

extension Slide: WritableDocument {
    var bytes: [UInt8] { get throws { try text(replacing: nil) } }
}

extension TaskList: WritableDocument {
    var bytes: [UInt8] { get throws { try archived() } }
}
