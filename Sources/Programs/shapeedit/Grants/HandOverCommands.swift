import ArgumentParser
import DocumentFiles
import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit open-in-place`.
struct OpenInPlaceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open-in-place", abstract: "Let an app work on a document where it is.",
        discussion: """
            Grants the document to the app, for writing, and prints its path in the app's mount. What \
            the app saves is saved in the document. Both have to be mounted: else nothing is \
            granted; `shapeedit grant` grants all the same. `shapeedit import-copy` gives the app a \
            copy instead.
            """)

    @Argument(
        help: "The document: a file in a mount, or CONTAINER:PATH.", completion: .file())
    var document: String
    @Option(help: ArgumentHelp("The app.", valueName: "app"), completion: .containers)
    var app: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let subject = try GrantSubject(document)
        try Containers.check(app)
        let mount = try AppMount(mountedFor: app)
        guard let original = subject.mountedPath else {
            throw Failure(
                .unavailable,
                "\(subject.container) is not mounted; "
                    + "`shapeedit mount \(subject.container) DIR` first")
        }
        try subject.grant(to: app, GrantTerms(access: .write, until: nil))
        guard let path = mount.path(of: original, in: subject.container) else {
            throw Failure(
                .unavailable,
                "\(document) is granted, but not shown at \(mount.point): "
                    + "it has to be mounted by `shapeedit mount --app \(app) DIR`")
        }
        HandOver(document: document, app: app, path: path, isCopy: false).say(json: json)
    }
}

/// `shapeedit import-copy`.
struct ImportCopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-copy", abstract: "Give an app a copy of a document.",
        discussion: """
            The copy is the app's own, in its container, which has to be mounted: what the app does \
            with it does not reach the document. `shapeedit open-in-place` lets it work on the \
            document itself.
            """)

    @Argument(help: "The document, a file of any kind.", completion: .file())
    var document: String
    @Option(help: ArgumentHelp("The app.", valueName: "app"), completion: .containers)
    var app: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try Containers.check(app)
        let mount = try AppMount(mountedFor: app)
        let path = try mount.copy(document)
        HandOver(document: document, app: app, path: path, isCopy: true).say(json: json)
    }
}

/// What was done to hand a document over.
private struct HandOver {
    let document: String
    let app: String
    /// In the app's mount.
    let path: String
    let isCopy: Bool

    func say(json: Bool) {
        let how = isCopy ? "imported a copy" : "opened in place"
        if json {
            let words = [("app", JSONText.string(app)), ("how", JSONText.string(how))]
            Console.say(
                JSONText.object(
                    JSONText.path("document", document) + words + JSONText.path("path", path)))
        } else {
            Console.say(line: "\(how): \(path)")
        }
    }
}

/// The mount of an app.
private struct AppMount {
    let point: String

    /// Fails if the app is not mounted.
    init(mountedFor app: String) throws(Failure) {
        guard let point = NamedToken.mountPoint(of: app) else {
            throw Failure(
                .unavailable, "\(app) is not mounted; `shapeedit mount --app \(app) DIR` first")
        }
        self.point = point
    }

    /// Where the app sees a document that was granted to it; `nil` if it does not: it was mounted
    /// without --app.
    func path(of original: String, in container: String) -> String? {
        let attribute = "user.shapeedit.id"
        let id = try? PathAttributes.value(attribute, of: original)
        let folder = "\(point)/in \(container)"
        return ((try? Directories.names(in: folder)) ?? []).map { "\(folder)/\($0)" }
            .first { id != nil && (try? PathAttributes.value(attribute, of: $0)) == id }
    }

    /// Copies a file to the folder of the mount, under its name or one with a number; the path.
    func copy(_ original: String) throws(Failure) -> String {
        var status = stat()
        guard stat(original.cPath, &status) == 0 else { throw Failure(original, Errno.last) }
        // Who opens a pipe waits for its writer.
        guard status.st_mode & S_IFMT == S_IFREG else {
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            throw Failure(
                .usage, "\(original): it is \(isFolder ? "a folder" : "no file"), not a document")
        }
        do throws(Errno) {
            let source = try OwnedDescriptor.open(original, O_RDONLY)
            let size = Int64(try source.status().st_size)
            let name = original.pathNames.last.map(String.init) ?? original
            for number in 1... {
                let path = "\(point)/\(number == 1 ? name : AddedName.numbered(name, number))"
                guard access(path.cPath, F_OK) != 0 else { continue }
                let target = try OwnedDescriptor.open(
                    path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
                do throws(Errno) { try WholeFile.copy(source, to: target, size: size) } catch {
                    unlink(path.cPath)
                    throw error
                }
                return path
            }
        } catch {
            throw Failure(original, error)
        }
        throw Failure(.cannotCreate, "\(point): no name is free")
    }
}
