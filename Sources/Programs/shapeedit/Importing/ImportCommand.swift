import ArgumentParser
import DocumentFiles
import Glibc
import Model
import PathText
import Stores
import SystemCalls

/// `shapeedit import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Make promises of the documents of a folder or a server.",
        discussion: """
            shapeedit import --promise SOURCE [DIR] shows in DIR what is in SOURCE: a folder's path, \
            dav://HOST/PATH, davs://HOST/PATH or s3://BUCKET[/PREFIX][?endpoint=URL]. Only the listing \
            is read; a document's content comes when it is opened. SOURCE is never written: what is \
            changed in DIR is the container's own. Cut off anywhere, the same command goes on.

            shapeedit import --refresh [DIR] follows what has changed in SOURCE since: new, moved, \
            changed and removed documents. What was changed or fetched in DIR stays, and so does what is \
            in folders there that may not be read: exit status 77, when all else is done.
            """)

    @Argument(
        help: ArgumentHelp(
            "With --promise: the source, and the folder it is to be shown in, which is made if need "
                + "be. With --refresh: the folder. Without one: the current folder.",
            valueName: "source-or-folder"), completion: .file())
    var places: [String] = []

    @Flag(help: "Bring the contents when they are opened, not now. (`cp -r` brings them now.)")
    var promise = false

    @Flag(help: "Follow the changes of the source of an earlier import.")
    var refresh = false

    @Flag(help: "Print JSON; progress goes to standard error, a JSON object a line.")
    var json = false

    func validate() throws {
        guard promise != refresh else {
            throw ValidationError("either --promise SOURCE or --refresh is needed")
        }
        guard places.count <= (promise ? 2 : 1), !promise || !places.isEmpty else {
            throw ValidationError(
                promise
                    ? "--promise takes a source and a folder" : "--refresh takes a folder")
        }
    }

    func run() throws {
        let folder = places.count == (promise ? 2 : 1) ? places[places.count - 1] : "."
        // First, so that no folder is made for what is none.
        let named = try promise ? Self.source(places[0]) : nil
        try named?.1.requireAbsoluteFiles()
        let target = try ImportTarget(folder, makes: promise)
        let (address, source) = try named ?? Self.source(target.source())
        if case .folder(let path) = source { try target.refuseOwnMount(path) }
        let tree = source.openTree(ContainerStore.settings(20))
        try target.begin(address, follows: refresh)
        var stream = ImportStream(target, json: json)
        let passedOver: PassedOver
        do throws(StoreError) {
            passedOver = try tree.walk(StoreCall()) { (entry) throws(StoreError) in
                try stream.add(entry)
            }
            try stream.finish()
        } catch {
            // What was listed last may not have been sent.
            if stream.failure == nil { try? stream.finish() }
            stream.endProgress()
            if let failure = stream.failure { throw failure }
            throw Self.failure(
                error, "what has been listed is there, the same command goes on")
        }
        if refresh, passedOver.hasGone {
            // What was moved to where the listing had been would count as removed.
            stream.endProgress()
            throw Failure(
                .temporary,
                "\(address): folders were moved or removed there while it was listed: nothing was "
                    + "removed here, the same command goes on")
        }
        // What is there and could not be shown stays here as it is, too.
        try target.end(hidden: passedOver.hidden)
        stream.endProgress()
        report(try target.report(), passedOver)
        if let problem = passedOver.problem {
            let count = passedOver.closedCount
            let what = count == 1 ? "it is" : "\(count) such things are"
            let words = refresh ? "as before here" : "passed over"
            let more = refresh && passedOver.hidden.isAll ? "; \(Self.allStays)" : ""
            throw Self.failure(problem, "\(what) \(words), with all below\(more)")
        }
        if refresh, passedOver.hidden.isAll {
            throw Failure(.badData, "\(address): \(Self.allStays)")
        }
    }

    private static let allStays =
        "nothing was removed here, as there is more there that cannot be shown than can be noted"

    private static func failure(_ error: StoreError, _ words: String) -> Failure {
        Failure(
            error.kind == .denied ? .noPermission : .unavailable, "the source \(error); \(words)")
    }

    /// The source that the user named: an address, or a folder's path.
    private static func source(_ text: String) throws -> (String, StoreAddress) {
        let address = try address(text)
        return (address, try StoreAddress(parsing: address))
    }

    /// The address of what the user named. What may hold a password is not repeated.
    private static func address(_ text: String) throws(Failure) -> String {
        if let address = StoreAddress.usualForm(text) { return address }
        let isSecret = text.utf8.drop { $0 != UInt8(ascii: ":") }.contains(UInt8(ascii: "@"))
        let name = isSecret ? "the source" : text
        var status = stat()
        guard stat(text.cPath, &status) == 0 else {
            let error = Errno.last
            // Meant as an address: what those look like is said.
            if isSecret || text.contains("://"), [ENOENT, ENOTDIR].contains(error.code) {
                return text
            }
            throw Failure(name, error)
        }
        guard status.st_mode & S_IFMT == S_IFDIR, let path = realpath(text.cPath, nil) else {
            throw Failure(.noInput, "\(name): it is not a folder")
        }
        defer { free(path) }
        return "folder:" + String(cPath: path)
    }

    private func report(_ counts: [String: String], _ passedOver: PassedOver) {
        func count(_ name: String) -> String { counts[name] ?? "0" }
        if json {
            Console.say(
                JSONText.object(
                    ["shown", "made", "changed", "removed", "kept", "inTheWay"]
                        .map { ($0, count($0)) } + [("passedOver", String(passedOver.count))]))
            return
        }
        var line = "\(count("shown")) listed, \(count("made")) new"
        if refresh { line += ", \(count("changed")) changed, \(count("removed")) removed" }
        if count("kept") != "0" {
            line += ", \(count("kept")) "
            line += count("kept") == "1" ? "stays as it is here" : "stay as they are here"
        }
        if count("inTheWay") != "0" {
            let first = String(path: Hexadecimal.bytes(count("taken").utf8) ?? [])
            line += ", \(count("inTheWay")) "
            line += count("inTheWay") == "1" ? "name is taken: " : "names are taken, the first is "
            line += PathText.quoted(first)
        }
        if passedOver.count > 0 {
            line += ", \(passedOver.count) cannot be shown here"
            line += passedOver.count == 1 ? ": " : ", the first is "
            line += PathText.quoted(passedOver.first)
        }
        Console.say(line)
    }
}
