import ArgumentParser
import Glibc
import Model
import PathText

/// `shapeedit evict`.
struct EvictCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict", abstract: "Let the local contents of documents go.",
        discussion: """
            The documents stay where they are, with name, size and date; their contents come back \
            from the container's store when they are opened. A document that is open, pinned or not \
            in the store yet is refused (exit code 75). How far it is, is shown as by \
            `shapeedit materialize`.
            """)

    @OptionGroup var targets: ContentTargets

    func run() throws {
        try ContentReport.each(targets, showsProgress: true) { (document) throws(Failure) in
            try document.set(DocumentContent.stateAttribute, "promise")
        }
    }
}

/// `shapeedit cancel`.
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop bringing the contents of documents.",
        discussion: """
            Programs that wait for them get an error. What has come already is used the next time.
            """)

    @OptionGroup var targets: ContentTargets

    func run() throws {
        try ContentReport.each(targets) { (document) throws(Failure) in
            // Who writes it may be one of those who wait, or have begun.
            let state = try document.state()
            guard ["downloading", "dirty"].contains(state) else { return }
            do throws(Failure) {
                try document.set(DocumentContent.stateAttribute, "cancel")
            } catch {
                // Without a store nothing comes, nor need it for what is written by others.
                guard error.kind == .usage || state == "dirty" && error.kind == .noPermission
                else { throw error }
            }
        }
    }
}

/// `shapeedit pin`.
struct PinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep the contents of documents here.",
        discussion: """
            Contents that are not here are brought. A folder's pin holds for all that is in it, now \
            and later, unless a document has one of its own.
            """)

    @OptionGroup var targets: PinTargets

    @Flag(help: "Keep them in the store only: they go here as soon as they are there.")
    var onlineOnly = false

    func run() throws { try targets.set(onlineOnly ? "online-only" : "keep") }
}

/// `shapeedit unpin`.
struct UnpinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", abstract: "Take pins from documents or folders.")

    @OptionGroup var targets: PinTargets

    func run() throws { try targets.set("default") }
}

/// What a command about pins is for.
struct PinTargets: ParsableArguments {
    @Argument(help: "Documents or folders.", completion: .file())
    var paths: [String]

    @Flag(help: "Print JSON.")
    var json = false

    /// Gives each a pin; one that fails does not keep it from the others.
    func set(_ pin: String) throws {
        var report = ContentReport(json: json)
        for path in paths {
            let document = DocumentContent(path: path, size: 0)
            do throws(Failure) {
                var status = stat()
                if stat(path.cPath, &status) == 0 {
                    try ContentTargets.refuseOthers(path, status)
                }
                try document.set(DocumentContent.pinAttribute, pin)
                report.add(document)
            } catch {
                report.add(document, error)
            }
        }
        try report.finish()
    }
}

extension ContentReport {
    /// Does something with each document; one that fails does not keep it from the others.
    static func each(
        _ targets: ContentTargets, showsProgress: Bool = false,
        _ body: (DocumentContent) throws(Failure) -> Void
    ) throws {
        var report = ContentReport(json: targets.json)
        let documents = targets.documents(&report)
        var progress = showsProgress ? TransferProgress("documents", json: targets.json) : nil
        for document in documents { progress?.expect(document.size) }
        for document in documents {
            do throws(Failure) {
                try body(document)
                progress?.finish(document.size)
                report.add(document)
            } catch {
                progress?.giveUp(document.size, came: 0)
                report.add(document, error)
            }
            progress?.showSoon()
        }
        progress?.show()
        progress?.end()
        try report.finish()
    }
}
