import FoundationEssentials
import Glibc
import Probing
import TestSupport
import Testing

/// A folder to work in with the program, as a user does: an ordinary one or one in a mount.
struct Desk {
    /// The ways a folder is had: an ordinary one, and one in a mount of each kind.
    static var places: [DataPath] {
        // One kind of mount is enough: by which way the bytes go is the mount tests' matter.
        DataPath.isPlain ? [.plain] : [.plain] + DataPath.mounts.prefix(1)
    }

    let volume: Volume
    /// `$XDG_STATE_HOME`, where histories are kept.
    let stateHome: String

    var folder: String { volume.directory }

    /// Where a file of the folder is.
    func path(_ name: String) -> String { folder + "/" + name }

    private var environment: [String: String] {
        var values = volume.container?.environment ?? [:]
        for name in ["PATH", "LD_LIBRARY_PATH", "TMPDIR", "LANG", "HOME"] {
            values[name] = values[name] ?? getenv(name).map { String(cString: $0) }
        }
        values["XDG_STATE_HOME"] = stateHome
        return values
    }

    /// Runs the program. What it prints as JSON is checked against the schema.
    func shapeedit(
        _ words: [String], input: [UInt8]? = nil, user: Int? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws -> ProgramResult {
        let program = try start(words, input: input, user: user)
        let result = program.wait(seconds: 60)
        if words.prefix(while: { $0 != "--" }).contains("--json"), !result.output.isEmpty {
            let faults = try OutputSchema.faults(of: result.output, printedBy: words)
            #expect(faults.isEmpty, "\(words): \(faults)", sourceLocation: location)
        }
        return result
    }

    /// Starts the program and does not wait for it.
    func start(
        _ words: [String], input: [UInt8]? = nil, user: Int? = nil
    ) throws -> RunningProgram {
        var source: Pipe?
        if let input {
            // A pipe takes that much at once without a reader.
            try #require(input.count <= 65_536)
            let pipe = try Pipe()
            _ = input.withUnsafeBytes { Glibc.write(pipe.writing, $0.baseAddress, $0.count) }
            pipe.closeWriting()
            source = pipe
        }
        defer { source?.closeReading() }
        let prefix = user.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] }
        return try RunningProgram(
            ((prefix ?? []) + [try BuiltPrograms.shapeedit()] + words).map { Array($0.utf8) },
            directory: folder, environment: environment, input: source?.reading)
    }

    /// Runs the program, which must succeed: what it printed.
    @discardableResult
    func run(
        _ words: String..., input: [UInt8]? = nil, at location: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try shapeedit(words, input: input, at: location)
        #expect(result.status == 0, "\(words): \(result)", sourceLocation: location)
        return result.text
    }

    /// Runs the program with words of any bytes; it must succeed: what it printed.
    @discardableResult
    func run(
        bytes words: ByteString..., at location: SourceLocation = #_sourceLocation
    ) throws -> ByteString {
        try run(bytes: words, at: location)
    }

    /// The same with a list of words.
    func run(
        bytes words: [ByteString], at location: SourceLocation = #_sourceLocation
    ) throws -> ByteString {
        let program = try RunningProgram(
            [Array(try BuiltPrograms.shapeedit().utf8)] + words.map(\.bytes), directory: folder,
            environment: environment)
        let result = program.wait(seconds: 60)
        #expect(result.status == 0, "\(words): \(result)", sourceLocation: location)
        return ByteString(result.output)
    }

    /// Runs the program, which must fail with that code of sysexits.h and a message: the message.
    @discardableResult
    func fail(
        _ status: Int32, _ words: String..., input: [UInt8]? = nil, user: Int? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try shapeedit(words, input: input, user: user, at: location)
        #expect(result.status == Int(status), "\(words): \(result)", sourceLocation: location)
        #expect(result.errorText.hasPrefix("shapeedit: "), sourceLocation: location)
        return result.errorText
    }

    /// The value at a path of a document.
    func get(_ file: String, _ path: String) throws -> String {
        String(try run("get", file, path).dropLast())
    }

    /// Runs a line of shell in the folder: what it printed.
    @discardableResult
    func shell(_ line: String, at location: SourceLocation = #_sourceLocation) throws -> String {
        let result = try Probing.run(
            ["sh", "-c", line], directory: folder, environment: environment)
        #expect(result.status == 0, "\(line): \(result)", sourceLocation: location)
        return result.text
    }

    /// The bytes of a file; `nil` if there is none.
    func bytes(_ name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: name.hasPrefix("/") ? name : path(name)))).map {
            Array($0)
        }
    }

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path(name)))
    }

    /// The names in the folder, in order.
    func names() throws -> [String] {
        try shell("ls -A").split(separator: "\n").map(String.init)
    }
}

/// Gives a test a folder to work in, and takes it away whatever happens.
func withDesk(
    _ place: DataPath, store: String? = nil, at location: SourceLocation = #_sourceLocation,
    _ body: (Desk) throws -> Void
) throws {
    let stateHome = try TemporaryDirectory.make()
    defer { TemporaryDirectory.remove(stateHome) }
    try withVolume(place, store: store, at: location) { volume in
        try body(Desk(volume: volume, stateHome: stateHome))
    }
}
