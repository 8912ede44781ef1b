internal import Glibc
internal import PathText
internal import SystemCalls

/// The programs of this machine that draw thumbnails of images, PDF, films and so on, each run in a
/// sandbox for one file.
///
/// May be used from any thread, and for several files at once. Calls block.
public struct ForeignThumbnailers: Sendable {
    /// What drawing may take, in milliseconds.
    public static let wallLimit: UInt64 = 15_000

    /// Bytes of the ends of names that programs are told.
    private static let endLimit = 32
    /// The number of the last signal that there is.
    private static let lastSignal: Int32 = 64

    private let types: FileNameTypes
    private let entries: [ThumbnailerEntry]
    private let sandbox: Sandbox?
    /// Why no foreign thumbnails are made; nil if they are.
    public let unavailability: String?

    /// What is not installed without which no foreign thumbnails are made; nil if all is there,
    /// though it may not work. Takes next to no time.
    public static var missingProgram: String? {
        ["bwrap", "prlimit"].first { ThumbnailerEntry.path(of: $0) == nil }
            .map { "\($0) is not installed" }
    }

    /// Those that are installed now. Takes some milliseconds: it reads the shared MIME database and
    /// tries the sandbox.
    public init() { self.init(folders: SharedData.folders) }

    /// Those of folders with shared data, those that count most first.
    init(folders: [String]) {
        types = FileNameTypes(folders: folders)
        // One that is not installed could only fail, in place of another one.
        var shortage = types.shortage
        let found = ThumbnailerEntry.installed(in: folders, &shortage)
        let installed: [ThumbnailerEntry] = found.compactMap { entry in
            guard let program = Sandbox.path(of: entry.command[0]) else { return nil }
            var entry = entry
            entry.command[0] = program
            return entry
        }
        // Of a program elsewhere nothing is shown but itself, which may not be all that it needs: it only draws
        // what no program of the machine does.
        entries =
            installed.filter { Sandbox.isMachines($0.command[0]) }
            + installed.filter { !Sandbox.isMachines($0.command[0]) }
        do throws(Sandbox.Missing) {
            // Some that there are would count as not installed, until others are.
            if let shortage {
                throw Sandbox.Missing(reason: "the machine's programs cannot be read: \(shortage)")
            }
            sandbox = try Sandbox.find()
            unavailability = nil
        } catch {
            sandbox = nil
            unavailability = error.reason
        }
    }

    /// Tells what is installed at one moment from what is at another.
    package struct Installation: Equatable, Sendable {
        private let stamps: [FileStamp?]

        /// What is installed now; looks at a few folders and the entries, and reads none.
        package init() {
            let folders = SharedData.folders
            let data = folders.flatMap { folder in
                ["thumbnailers", "mime/globs2", "mime/aliases"].map { "\(folder)/\($0)" }
            }
            // A folder does not tell that an entry in it was changed in place.
            var shortage: Errno?
            let entries = ThumbnailerEntry.paths(in: folders, &shortage)
            stamps = (data + entries + ThumbnailerEntry.programFolders).map { FileStamp(path: $0) }
        }
    }

    /// Whether there is a program for files of a name.
    public func canDraw(fileName: String) -> Bool {
        sandbox != nil && entry(forFileName: fileName) != nil
    }

    /// The picture of a file as a PNG file, as the program wrote it: larger than asked, it may be, as that of
    /// whoever takes the size for the width of a page, or of a kind that the desktop's cache does not take.
    /// It is as hostile as the file: only programs that can be lost should look at its pixels.
    ///
    /// ``ThumbnailFailure/unavailable(_:)`` if the sandbox does not work now, whatever the document is.
    ///
    /// - Parameters:
    ///   - path: where the content is.
    ///   - fileName: what the document is called, which tells its type.
    ///   - size: the longest side in pixels.
    ///   - cancellation: ends the drawing.
    public func picture(
        ofFileAt path: String, fileName: String, size: Int, wallLimit: UInt64 = wallLimit,
        cancellation: Cancellation? = nil
    ) throws(ThumbnailFailure) -> [UInt8] {
        guard let sandbox else { throw .unavailable(unavailability ?? "there is no sandbox") }
        guard let entry = entry(forFileName: fileName) else {
            throw .refused("no program of this machine draws files like \(fileName)")
        }
        if cancellation?.isCancelled == true { throw .cancelled }
        // The program may go by the name too, and tells what `.svg.gz` is by both ends. A long one is none,
        // and could make a name that no file can have: the sandbox would fail for it.
        let ends = fileName.split(separator: ".").dropFirst().suffix(2)
            .map { $0.filter { $0.isLetter || $0.isNumber } }
            .filter { $0.utf8.count <= Self.endLimit }
        let output = try outputFile()
        let input = Sandbox.Shown(
            path: path, inside: (["/tmp/document"] + ends).joined(separator: "."))
        let command = entry.arguments(input: input.inside, output: Sandbox.picture, size: size)
        let ending = Self.endingInside(
            try sandbox.run(
                command, input: input, output: output.number, milliseconds: wallLimit,
                cancellation: cancellation))
        switch ending {
        case .exit(0): return try picture(in: output)
        case .signal where ending.wasWanted: throw .ended(ending.description)
        case .exit where !ThumbnailerEntry.isInstalled(entry.command[0]):
            throw .unavailable("\(entry.command[0]) is not installed any more")
        case .exit, .signal: throw .died(ending.description)
        }
    }

    /// How the program in the sandbox ended: bubblewrap passes on its end by a signal as 128 and the
    /// signal's number. What is above the last signal is its own code, as 255 of those that return -1.
    private static func endingInside(_ ending: ChildProcess.End) -> ChildProcess.End {
        guard case .exit(let code) = ending, code > 128, code - 128 <= lastSignal else {
            return ending
        }
        return .signal(code - 128)
    }

    /// The picture of a file that is in memory, in the same way.
    public func picture(
        of bytes: [UInt8], fileName: String, size: Int, wallLimit: UInt64 = wallLimit,
        cancellation: Cancellation? = nil
    ) throws(ThumbnailFailure) -> [UInt8] {
        let folder = try temporaryFolder()
        defer { try? Directories.removeTree(folder) }
        let path = folder + "/document"
        let file = try newFile(path)
        do throws(Errno) { try file.write(bytes, at: 0) } catch {
            throw .unavailable("\(path) cannot be written: \(error)")
        }
        return try picture(
            ofFileAt: path, fileName: fileName, size: size, wallLimit: wallLimit,
            cancellation: cancellation)
    }

    private func entry(forFileName name: String) -> ThumbnailerEntry? {
        for type in types.types(ofFileName: name) {
            let found = entries.first { entry in
                entry.mimeTypes.contains(type)
                    || entry.mimeTypes.contains { types.canonical($0) == type }
            }
            if let found { return found }
        }
        return nil
    }

    private func temporaryFolder() throws(ThumbnailFailure) -> String {
        let base = WorkerEnvironment.variable("TMPDIR") ?? "/tmp"
        var template = "\(base)/shapeedit-thumbnail.XXXXXX".cPath
        guard mkdtemp(&template) != nil else {
            throw .unavailable("no folder can be made in \(base): \(Errno.last)")
        }
        return String(cPath: template)
    }

    /// What the program leaves, in memory: on a full disk the document would be blamed. Nothing is left of it, also
    /// where this process is killed.
    private func outputFile() throws(ThumbnailFailure) -> OwnedDescriptor {
        do throws(Errno) { return try OwnedDescriptor.inMemory() } catch {
            throw .unavailable("no file can be made in memory: \(error)")
        }
    }

    private func newFile(_ path: String) throws(ThumbnailFailure) -> OwnedDescriptor {
        do throws(Errno) {
            return try OwnedDescriptor.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        } catch {
            throw .unavailable("\(path) cannot be made: \(error)")
        }
    }

    /// What the program wrote, of which nothing is believed.
    private func picture(in file: borrowing OwnedDescriptor) throws(ThumbnailFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(Errno) {
            let length = Int(try file.status().st_size)
            bytes = [UInt8](repeating: 0, count: min(length, Sandbox.fileBytes))
            let count = try file.read(into: &bytes, at: 0)
            bytes.removeLast(bytes.count - count)
        } catch {
            throw .died("no picture: \(error)")
        }
        if bytes.isEmpty { throw .died("no picture") }
        guard PNGFile.isOne(bytes) else { throw .died("something that is no picture") }
        return bytes
    }
}
