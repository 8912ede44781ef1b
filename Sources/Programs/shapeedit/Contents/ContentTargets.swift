import ArgumentParser
import DocumentFiles
import Glibc
import Model
import PathText
import SystemCalls

/// The documents that a command about contents is for.
struct ContentTargets: ParsableArguments {
    @Argument(help: "Documents, or folders with all that is in them.", completion: .file())
    var paths: [String]

    @Flag(help: "Print JSON.")
    var json = false

    /// The regular files at and below the paths, in the order of the listing. What cannot be looked at is
    /// reported, and does not keep the command from the others.
    func documents(_ report: inout ContentReport) -> [DocumentContent] {
        var found: [DocumentContent] = []
        for path in paths { Self.collect(path, isNamed: true, &found, &report) }
        return found
    }

    private static func collect(
        _ path: String, isNamed: Bool, _ found: inout [DocumentContent],
        _ report: inout ContentReport
    ) {
        do throws(Failure) {
            let names = try look(path, isNamed: isNamed, &found)
            for name in names { collect(path + "/" + name, isNamed: false, &found, &report) }
        } catch {
            report.add(DocumentContent(path: path, size: 0), error)
        }
    }

    /// Notes a document; what is in a folder.
    private static func look(
        _ path: String, isNamed: Bool, _ found: inout [DocumentContent]
    ) throws(Failure) -> [String] {
        var status = stat()
        guard (isNamed ? stat(path.cPath, &status) : lstat(path.cPath, &status)) == 0 else {
            if !isNamed, errno == ENOENT { return [] }
            throw Failure(path, Errno.last)
        }
        if isNamed { try refuseOthers(path, status) }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            found.append(DocumentContent(path: path, size: Int64(status.st_size)))
        case S_IFDIR:
            do throws(Errno) { return try Directories.names(in: path).sorted() } catch {
                throw Failure(path, error)
            }
        default: break
        }
        return []
    }

    /// Refuses what is named and has no content that could come or go. All that is in `.shapeedit` is of
    /// that kind, which is said once and not of each file there; all else in a mount tells its container.
    static func refuseOthers(_ path: String, _ status: stat) throws(Failure) {
        guard [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            throw Failure(.noInput, "\(path): it is neither a document nor a folder")
        }
        do throws(Errno) {
            _ = try PathAttributes.value("user.shapeedit.container", of: path)
        } catch {
            guard MountAttributes.isMounted(path) else {
                // Said once, and not of each file that is in it.
                if status.st_mode & S_IFMT == S_IFDIR { throw Failure.notMounted(path) }
                return
            }
            // What may not be read does not tell what it is either.
            if error.code == EACCES { throw DocumentContent.refused(path, error) }
            throw Failure(.noInput, "\(path): it is neither a document nor a folder of documents")
        }
    }
}

/// A document whose content is brought or let go through its attributes.
struct DocumentContent {
    let path: String
    /// Bytes.
    let size: Int64

    static let stateAttribute = "user.shapeedit.state"
    static let pinAttribute = "user.shapeedit.pin"

    /// promise, downloading, local or dirty.
    func state() throws(Failure) -> String { try value(Self.stateAttribute) }

    /// Bytes that are here.
    var progress: Int64 {
        if let bytes = number("user.shapeedit.progress.bytes") { return bytes }
        // A mount of an earlier release tells percents only.
        return size / 100 * (number("user.shapeedit.progress") ?? 0)
    }

    private func number(_ name: String) -> Int64? { (try? value(name)).flatMap { Int64($0) } }

    /// Why the last thing that was asked for did not happen.
    var problem: String? { try? text("user.shapeedit.error") }

    /// Why its content did not come, as an exit code tells it.
    var problemKind: Failure.Kind {
        switch try? text("user.shapeedit.error.kind") {
        case "denied": .noPermission
        case "lost", "damaged": .badData
        case "disk": .inputOutput
        default: .unavailable
        }
    }

    func set(_ name: String, _ value: String) throws(Failure) {
        do throws(Errno) { try MountAttributes.set(name, Array(value.utf8), of: path) } catch {
            throw failure(error)
        }
    }

    private func value(_ name: String) throws(Failure) -> String {
        do throws(Errno) { return try text(name) } catch { throw failure(error) }
    }

    private func text(_ name: String) throws(Errno) -> String {
        String(decoding: try PathAttributes.value(name, of: path), as: UTF8.self)
    }

    /// What is said of another user's, and of what not even its owner may read: where it is is told by what
    /// only readers see.
    fileprivate static func refused(_ path: String, _ error: Errno) -> Failure {
        let words =
            error.code == EACCES
            ? "only its owner may do that, and has to be allowed to read it"
            : "only its owner may do that"
        return Failure(.noPermission, "\(path): \(words)")
    }

    private func failure(_ error: Errno) -> Failure {
        switch error.code {
        case ENODATA, ENODEV: Failure.notMounted(path)
        case ENOTSUP: Failure(.usage, "\(path): its container has no store")
        case EBUSY: Failure(.temporary, "\(path): \(problem ?? error.description)")
        case EPERM, EACCES: Self.refused(path, error)
        case EROFS, ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, ENOTCONN: Failure(path, error)
        default: Failure(.inputOutput, "\(path): \(problem ?? error.description)")
        }
    }
}

/// What became of each document, for people on standard error and for `--json`.
struct ContentReport {
    private var lines: [String] = []
    private var worst: Failure.Kind?
    private let json: Bool

    init(json: Bool) { self.json = json }

    mutating func add(_ document: DocumentContent, _ problem: Failure? = nil) {
        if let problem {
            worst = worst ?? problem.kind
            if !json { Console.complain(problem.message) }
        }
        guard json else { return }
        lines.append(
            JSONText.object(
                "file", at: document.path,
                [
                    ("state", (try? document.state()).map(JSONText.string) ?? "null"),
                    ("problem", problem.map { JSONText.string($0.message) } ?? "null"),
                ]))
    }

    /// Prints what is left to print; ends the command with the first problem's exit code.
    func finish() throws {
        if json { Console.say(JSONText.array(lines)) }
        if let worst { throw ExitCode(worst.rawValue) }
    }
}
