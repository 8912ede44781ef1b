import ArgumentParser
import DocumentFiles
import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit conflicts`.
struct ConflictsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List versions that were replaced by somebody who had not seen them.",
        discussion: """
            A program that read a document, and saves the whole of it after another one has saved it \
            too, puts its content in the place of one that it never saw. That one is kept as a \
            conflict version until `shapeedit resolve` is told what to do. The links are in \
            .shapeedit/conflicts of each mount.
            """)

    @Argument(
        help: "A document, or a folder in a mount; else all mounts of this user.",
        completion: .file())
    var place: String?
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        var found: [(file: String, versions: [FileVersion])] = []
        for file in try documents() {
            let versions: [FileVersion]
            do throws(Failure) { versions = try DocumentVersions(file).conflicts() } catch {
                // One that went since has no conflict any more. The kernel may take a moment longer to
                // know than who was asked.
                if file != place, error.kind == .noInput || access(file.cPath, F_OK) != 0 {
                    continue
                }
                throw error
            }
            if !versions.isEmpty { found.append((file, versions)) }
        }
        if json {
            Console.say(
                JSONText.array(
                    found.map { document in
                        let versions = JSONText.array(document.versions.map(VersionReport.json))
                        return JSONText.object("file", at: document.file, [("versions", versions)])
                    }))
            return
        }
        for (file, versions) in found {
            Console.say(line: file)
            let width = versions.map(\.name.count).max() ?? 0
            for version in versions {
                Console.say(line: "  " + VersionReport.line(version, nameWidth: width))
            }
        }
    }

    private func documents() throws(Failure) -> [String] {
        if let place {
            var status = stat()
            if stat(place.cPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
                return [place]
            }
            try MountedFolder.check(place, list: "conflicts")
        }
        do throws(DocumentProblem) {
            return try MountLink.all("conflicts", below: place).map(\.path)
        } catch { throw Failure(.noInput, "\(error)") }
    }
}

/// `shapeedit resolve`.
struct ResolveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "End the conflicts of a document.",
        discussion: """
            With --keep current the document stays as it is; with --keep VERSION it is restored to \
            that one; with --keep both each conflict version becomes a document beside it. With \
            --merge a shell command merges: it finds copies of the current and the other version in \
            $LOCAL and $REMOTE, and writes $MERGED, which is the current one at first; unless it \
            exits with 0 nothing changes. Whatever is replaced stays among the versions. As \
            `shapeedit restore`, it waits up to ten seconds for programs that are writing the \
            document, and those that show it are asked to save first.
            """)

    @Argument(help: "The document, a file of any kind.", completion: .file())
    var file: String
    @Option(help: "current, both, or a version as `shapeedit conflicts` names it.")
    var keep: String?
    @Option(help: "A shell command that merges two versions.")
    var merge: String?
    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if (keep == nil) == (merge == nil) {
            throw ValidationError("say either --keep current, both or VERSION, or --merge COMMAND")
        }
    }

    func run() throws {
        let document = try DocumentVersions(file)
        let conflicts = try document.conflicts()
        if conflicts.isEmpty { throw Failure(.badData, "\(file): it has no conflict version") }
        var copies: [String] = []
        var kept = "merged"
        switch keep {
        case "current": kept = "current"
        case "both":
            kept = "both"
            // Another that cannot be kept stays in conflict by itself.
            for version in conflicts {
                copies.append(try copy(version, document))
                try document.resolve(version)
            }
        case let word?:
            kept = "version"
            let version = try document.find(word)
            try WriteClaim.run(on: file) { () throws(Failure) in
                _ = try document.restore(version.name)
            }
        case nil:
            // What was merged is done with, whatever happens to the next one.
            for version in conflicts.dropLast() {
                try merge(version, document)
                try document.resolve(version)
            }
            if let last = conflicts.last { try merge(last, document) }
        }
        // None that came meanwhile.
        let names = Set(conflicts.map(\.name))
        for version in try document.conflicts() where names.contains(version.name) {
            try document.resolve(version)
        }
        report(kept, conflicts.map(\.name), copies)
    }

    private func copy(
        _ version: FileVersion, _ document: DocumentVersions
    ) throws(Failure) -> String {
        let name = try ConflictCopy.keepBeside(file) { (path, mode) throws(Failure) in
            try document.copy(version, to: path, mode: mode)
        }
        return file[..<file.lastName.startIndex] + name
    }

    private func merge(_ version: FileVersion, _ document: DocumentVersions) throws(Failure) {
        let command = merge ?? ""
        var status: Int32 = 0
        let isMerged = try document.merge(
            version,
            alone: { (body) throws(Failure) in try WriteClaim.run(on: file, body) },
            by: { (files) throws(Failure) in
                status = ChildCommand.run(
                    ["/bin/sh", "-c", command],
                    environment: [
                        "LOCAL": files.current, "REMOTE": files.other, "MERGED": files.merged,
                    ])
                return status == 0
            })
        if !isMerged {
            throw Failure(
                .software,
                "\(file): merging \(version.name) ended with \(status); nothing was changed: \(command)"
            )
        }
    }

    private func report(_ kept: String, _ names: [String], _ copies: [String]) {
        if json {
            Console.say(
                JSONText.object(
                    "file", at: file,
                    [
                        ("kept", JSONText.string(kept)),
                        ("resolved", JSONText.array(names.map { JSONText.string($0) })),
                        ("copies", JSONText.array(copies.map { JSONText.string($0) })),
                    ]))
            return
        }
        let what =
            switch kept {
            case "current": "kept as it is"
            case "both":
                (copies.count == 1 ? "kept both; the other is " : "kept all; the others are ")
                    + copies.joined(separator: ", ")
            case "version": "went back to \(keep ?? "")"
            default: "merged"
            }
        Console.say(line: "\(file): \(what)")
    }
}
