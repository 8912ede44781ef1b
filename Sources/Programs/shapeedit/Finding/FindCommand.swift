public import ArgumentParser
import DocumentKit
import Glibc
public import Model
import PathText
import SystemCalls

/// `shapeedit find`.
struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Find documents of a mount by what is known of them.",
        discussion: """
            Nothing is opened and no content fetched. With --watch it goes on: lines that begin with \
            + come, those with - go, those with ~ have changed; with --json each batch of changes is \
            a line with indices into the list before and after.
            """)

    @Argument(help: "A folder in a mount: what is below it.", completion: .directory)
    var folder = "."
    @Option(
        help: "The name: with * or ? all of it, else a part of it, in any case of letters.")
    var name: String?
    @Option(
        help: ArgumentHelp(
            "Words in it, or their beginnings; \"two words\" as they stand together.",
            valueName: "words"))
    var text: String?
    @Option(help: ArgumentHelp("Words in its title.", valueName: "words"))
    var title: String?
    @Option(help: "One of its tags (user.xdg.tags).")
    var tag: String?
    @Option(
        help: ArgumentHelp(
            "Ends of names such as shape or txt; several with commas between.", valueName: "types"))
    var type: String?
    @Option(help: "documents, folders or all.")
    var kind = Query.Kind.documents
    @Option(
        help: ArgumentHelp("At least so many bytes, as in 500, 50k, 2M or 1GB.", valueName: "size"))
    var minSize: ByteSize?
    @Option(help: ArgumentHelp("At most so many bytes.", valueName: "size"))
    var maxSize: ByteSize?
    @Option(help: "Changed at most so many days ago.")
    var days: Double?
    @Option(
        help: ArgumentHelp(
            "Changed since then: 2026-12-24 or 2026-12-24T18:00.", valueName: "time"))
    var after: Moment?
    @Option(help: ArgumentHelp("Changed before that.", valueName: "time"))
    var before: Moment?
    @Flag(help: "Only promises: what is in the store or at its source alone.")
    var promises = false
    @Flag(help: "Only what is here, no promises.")
    var local = false
    @Flag(help: "Hidden documents, and those in hidden folders, too.")
    var hidden = false
    @Option(help: "path, name, size, modified, type or title.")
    var sort = Query.Order.path
    @Flag(help: "The other way round.")
    var reverse = false
    @Option(name: .shortAndLong, help: "At most so many.")
    var limit: Int?
    @Flag(name: [.customShort("0"), .customLong("print0")], help: "End paths with a zero byte.")
    var endsWithZero = false
    @Flag(help: "Go on with what changes, until it is interrupted.")
    var watch = false
    @Option(
        help: ArgumentHelp(
            "Save the query: its results are in the folder .shapeedit/queries/NAME of the mount.",
            valueName: "name"))
    var save: String?
    @Option(help: ArgumentHelp("Forget a saved query.", valueName: "name"))
    var forget: String?
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit \(limit): at least 1") }
        if let days, !(0...1_000_000).contains(days) {
            throw ValidationError("--days \(days): 0 to 1000000")
        }
        if promises, local { throw ValidationError("--promises are not --local") }
        if watch, endsWithZero { throw ValidationError("--watch has lines, not zero bytes") }
        for name in [save, forget] {
            guard let name else { continue }
            if name.isEmpty || name == "." || name == ".." || name.contains("/") {
                throw ValidationError("'\(name)' cannot be the name of a query")
            }
        }
        if watch || endsWithZero || forget != nil && save != nil, save != nil {
            throw ValidationError("--save stands alone")
        }
        if save != nil, days != nil {
            throw ValidationError("--save cannot keep --days, which count from now")
        }
        if watch, days != nil { throw ValidationError("--watch cannot follow --days") }
    }

    private func query(below path: String) -> Query {
        var query = Query()
        // These are texts and no paths.
        (query.name, query.text) = (name?.repairedPath, text?.repairedPath)
        query.title = title?.repairedPath
        // As with other options: nothing to look for leaves nothing out.
        query.tag = tag.flatMap { $0.isEmpty ? nil : $0.repairedPath }
        let types = (type ?? "").repairedPath.filter { !$0.isWhitespace }
        query.types = types.split(separator: ",").map { word in
            (word.hasPrefix(".") ? word.dropFirst() : word).lowercased()
        }
        query.folder = path
        query.kind = kind
        (query.smallest, query.largest) = (minSize?.bytes, maxSize?.bytes)
        let sinceDays = days.map { WallClock.now.seconds - Int64($0 * 86_400) }
        query.oldest = [sinceDays, after?.seconds].compactMap { $0 }.max()
        query.newest = before.map { $0.seconds - 1 }
        if promises || local { query.isPromise = promises }
        query.hidden = hidden
        (query.order, query.isReversed, query.limit) = (sort, reverse, limit)
        query.titled = json && save == nil
        return query
    }

    func run() throws {
        let place = try WatchedPlace(folder)
        if place.isFile {
            throw Failure(.usage, "\(folder): it is a file, not a folder; --name finds files")
        }
        let point = place.mountPoint
        let query = query(below: place.path)
        if let forget {
            let saved = SavedQuery(point, forget)
            try saved.forget()
            if json { Console.say(saved.json) }
            return
        }
        try MountedFolder.requireDocuments(folder, at: place.path)
        if let save {
            let saved = SavedQuery(point, save)
            try saved.save(query)
            return json ? Console.say(saved.json) : Console.say(path: saved.folder)
        }
        if watch { try LiveFind(query, in: point, json: json).run() }
        var output = FoundOutput(in: point, json ? .json : endsWithZero ? .names : .lines)
        let problem = try MetadataQuery.find(query, in: point) { output.add($0) }
        if let problem { Console.complain("\(point): some may be missing: \(problem)") }
        output.print()
    }
}

extension Query.Kind: ExpressibleByArgument {}
extension Query.Order: ExpressibleByArgument {}
