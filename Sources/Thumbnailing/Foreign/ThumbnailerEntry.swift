internal import Glibc
internal import PathText
internal import SystemCalls

/// A program of the machine that draws thumbnails, as its `.thumbnailer` file tells.
struct ThumbnailerEntry: Equatable, Sendable {
    /// The command, split into arguments, with %i, %u, %o and %s in it.
    var command: [String]
    var mimeTypes: Set<String>

    /// No such file is larger.
    static let fileBytes = 64 << 10

    /// The entry of a file; nil if it is none, or if the program is not installed.
    init?(text: String, isInstalled: (String) -> Bool = Self.isInstalled) {
        var values: [String: String] = [:]
        var isOurs = false
        for line in text.split(whereSeparator: \.isNewline).map({ $0.drop(while: Self.isBlank) }) {
            if line.hasPrefix("[") {
                // Behind it there may be blanks, in it not.
                let end = line.lastIndex { !Self.isBlank($0) }
                isOurs = end.map { line[...$0] == "[Thumbnailer Entry]" } ?? false
            } else if isOurs, let equals = line.firstIndex(of: "="), !line.hasPrefix("#") {
                let key = line[..<equals].filter { !Self.isBlank($0) }
                values[key] = Self.unescaped(line[equals...].dropFirst().drop(while: Self.isBlank))
            }
        }
        guard let command = values["Exec"].flatMap(Self.split), let program = command.first,
            command.contains(where: { $0.contains("%o") }),
            isInstalled(values["TryExec"] ?? program),
            isInstalled(program)
        else { return nil }
        self.command = command
        mimeTypes = Set((values["MimeType"] ?? "").split(separator: ";").map(String.init))
    }

    private static func isBlank(_ character: Character) -> Bool {
        character == " " || character == "\t"
    }

    /// What a value stands for before anything is made of it, as in every key file.
    private static func unescaped(_ value: Substring) -> String {
        var result = ""
        var rest = value
        while let character = rest.popFirst() {
            guard character == "\\", let next = rest.popFirst() else {
                result.append(character)
                continue
            }
            switch next {
            case "s": result += " "
            case "n": result += "\n"
            case "t": result += "\t"
            case "r": result += "\r"
            case "\\": result += "\\"
            default: result += "\\" + String(next)
            }
        }
        return result
    }

    /// The command for a file and a size.
    func arguments(input: String, output: String, size: Int) -> [String] {
        command.map { argument in
            var result = ""
            var rest = argument[...]
            while let character = rest.popFirst() {
                guard character == "%", let code = rest.popFirst() else {
                    result.append(character)
                    continue
                }
                switch code {
                case "i": result += input
                case "u": result += FileURI.address(ofPath: input.pathBytes)
                case "o": result += output
                case "s": result += String(size)
                default: result.append(code)
                }
            }
            return result
        }
    }

    /// A command line as arguments, with quotes as shells have them; nil if one has no end.
    static func split(_ line: String) -> [String]? {
        var arguments: [String] = []
        var current: String?
        var quote: Character?
        var rest = line[...]
        while let character = rest.popFirst() {
            if let open = quote {
                if character == open {
                    quote = nil
                } else if character == "\\", open == "\"", let next = rest.popFirst() {
                    current?.append(next)
                } else {
                    current?.append(character)
                }
            } else if character == "\"" || character == "'" {
                quote = character
                current = current ?? ""
            } else if character == " " || character == "\t" {
                if let current { arguments.append(current) }
                current = nil
            } else if character == "\\", let next = rest.popFirst() {
                current = (current ?? "") + String(next)
            } else {
                current = (current ?? "") + String(character)
            }
        }
        if let current { arguments.append(current) }
        return quote == nil && !arguments.isEmpty ? arguments : nil
    }

    /// Those of folders with shared data, those that count most first.
    ///
    /// - Parameter shortage: set where it is for want of something for the moment that some may be missing.
    static func installed(in folders: [String], _ shortage: inout Errno?) -> [ThumbnailerEntry] {
        paths(in: folders, &shortage).compactMap { path in
            SharedData.text(of: path, limit: fileBytes, &shortage).flatMap {
                ThumbnailerEntry(text: $0)
            }
        }
    }

    /// The files of the entries in those folders; of files with the same name the first.
    static func paths(in folders: [String], _ shortage: inout Errno?) -> [String] {
        var seen: Set<String> = []
        return folders.map { $0 + "/thumbnailers" }.flatMap { folder in
            let names = SharedData.orNone(&shortage) { () throws(Errno) in
                try Directories.names(in: folder)
            }
            return (names ?? []).sorted().filter { name in
                name.hasSuffix(".thumbnailer") && seen.insert(name).inserted
            }.map { "\(folder)/\($0)" }
        }
    }

    static func isInstalled(_ program: String) -> Bool { path(of: program) != nil }

    /// Where a program is; nil if it is nowhere.
    static func path(of program: String) -> String? {
        if program.hasPrefix("/") { return access(program.cPath, X_OK) == 0 ? program : nil }
        return programFolders.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    /// Where programs are looked for.
    static var programFolders: [String] {
        let folders = WorkerEnvironment.variable("PATH") ?? "/usr/bin:/bin"
        return folders.split(separator: ":").map(String.init)
    }
}
