import Browser
import DocumentFiles
import Documents
import Editing
import Glibc
import Model
import PathText
import SystemCalls

/// Reads the folder and changes it, on a thread of its own, one thing after the other.
final class BrowserHand: Sendable {
    private enum Job: Sendable {
        /// With what is typed to narrow the documents down.
        case look(filter: String)
        case inspect([BrowserEntry])
        case effect(BrowserEffect)

        /// Whether it changes names, which is soon done: contents may be long in coming.
        var isChange: Bool {
            switch self {
            case .effect(.create), .effect(.rename), .effect(.delete): true
            case .effect, .look, .inspect: false
            }
        }
    }

    private struct Work: Sendable {
        var jobs: [Job] = []
        /// Whether one that changes something is under way.
        var isChanging = false
        /// Whether there is a second thread, as the first may hang.
        var isFinishing = false
    }

    private let work = Monitor(Work())
    private let tree: BrowsedTree
    private let inbox: EventInbox<BrowserEvent>

    init(_ tree: BrowsedTree, _ inbox: EventInbox<BrowserEvent>) {
        (self.tree, self.inbox) = (tree, inbox)
        start()
    }

    private func start() {
        let (work, tree, inbox) = (work, tree, inbox)
        Threads.start("folder") {
            while true {
                let job = work.wait { work -> Job? in
                    guard let job = work.jobs.first, !(job.isChange && work.isChanging) else {
                        return nil
                    }
                    if job.isChange { work.isChanging = true }
                    return work.jobs.removeFirst()
                }
                guard let job else { continue }
                Self.perform(job, tree, inbox)
                work.signal { if job.isChange { $0.isChanging = false } }
            }
        }
    }

    private static func perform(
        _ job: Job, _ tree: BrowsedTree, _ inbox: EventInbox<BrowserEvent>
    ) {
        switch job {
        case .look(let filter):
            do throws(Errno) {
                let (entries, isWhole) = try tree.list(filter)
                inbox.put(.listed(entries, isWhole: isWhole, problem: nil))
            } catch {
                inbox.put(.listed([], problem: "\(tree.path): \(error)"))
            }
        case .inspect(let entries): inspect(entries, tree, inbox)
        case .effect(let effect):
            if let event = perform(effect, tree) { inbox.put(event) }
        }
    }

    /// Has the changes made that are asked for and not made yet, before the process ends, and waits for
    /// that, but no longer than this. What came of them is in the inbox then.
    ///
    /// - Returns: whether they are made.
    func finish(within milliseconds: UInt64) -> Bool {
        let end = MonotonicClock.after(milliseconds: milliseconds)
        let needsThread = work.signal { work in
            work.jobs.removeAll { !$0.isChange }
            let isWaiting = !work.jobs.isEmpty && !work.isChanging && !work.isFinishing
            if isWaiting { work.isFinishing = true }
            return isWaiting
        }
        // What is under way may be long in coming, and changes nothing.
        if needsThread { start() }
        let isDone = work.wait(until: end) { work in
            work.jobs.isEmpty && !work.isChanging ? true : nil
        }
        return isDone == true
    }

    /// Looks at the folder; asked several times while busy, it looks once, as it was asked last.
    func look(_ filter: String) {
        work.signal { work in
            for case (let index, .look) in work.jobs.enumerated() {
                work.jobs[index] = .look(filter: filter)
                return
            }
            work.jobs.append(.look(filter: filter))
        }
    }

    /// Asks the mount about documents.
    func inspect(_ entries: [BrowserEntry]) {
        work.signal { work in
            for case .inspect in work.jobs { return }
            work.jobs.append(.inspect(entries))
        }
    }

    func perform(_ effect: BrowserEffect) { work.signal { $0.jobs.append(.effect(effect)) } }

    private static func inspect(
        _ entries: [BrowserEntry], _ tree: BrowsedTree, _ inbox: EventInbox<BrowserEvent>
    ) {
        var found: [UInt64: BrowserDetails] = [:]
        for entry in entries { found[entry.item] = tree.details(entry.path) }
        if !found.isEmpty { inbox.put(.inspected(found)) }
    }

    private static func perform(_ effect: BrowserEffect, _ tree: BrowsedTree) -> BrowserEvent? {
        do throws(Failure) {
            switch effect {
            case .create(let name):
                try create(tree.file(name))
                return .done("made \(name)", isBad: false, select: name)
            case .rename(let old, let item, let new):
                try requireSame(old, item, tree)
                try rename(old, to: new, tree)
                return .done("", isBad: false, select: new)
            case .delete(let path, let item):
                try requireSame(path, item, tree)
                try act(on: path) { () throws(Errno) in
                    try check { unlink(tree.file(path).cPath) }
                }
                return .done("deleted \(path)", isBad: false, select: nil)
            case .evict(let path):
                try set("state", "promise", of: path, tree)
                return .done("", isBad: false, select: nil)
            case .materialize(let path):
                try set("state", "local", of: path, tree)
                return .done("", isBad: false, select: nil)
            case .pin(let path, let value):
                try set("pin", value, of: path, tree)
                return .done("", isBad: false, select: nil)
            case .quit, .suspend, .redraw, .look, .open: return nil
            }
        } catch {
            return .done(error.message, isBad: true, select: nil)
        }
    }

    private static func create(_ path: String) throws(Failure) {
        guard let type = DocumentType(fileName: path) else {
            throw Failure(.usage, "end the name with .shape, .slide, .list or .shapeFile")
        }
        let document: EditableDocument
        do throws(EditError) { document = try EditableDocument.template(nil, type: type) } catch {
            throw Failure(.software, error.description)
        }
        try DocumentFile.create(path, document)
    }

    private static func rename(
        _ old: String, to new: String, _ tree: BrowsedTree
    ) throws(Failure) {
        do throws(Errno) {
            try Directories.renameExclusively(tree.file(old), tree.file(new))
        } catch {
            let isOfNew =
                [EEXIST, ENOTDIR, ENAMETOOLONG, ELOOP].contains(error.code)
                || error.code == ENOENT && access(tree.file(old).cPath, F_OK) == 0
            throw Failure(.system, "\(isOfNew ? new : old): \(error)")
        }
    }

    /// Fails if a path has another file than the one that the user was asked about.
    private static func requireSame(
        _ path: String, _ item: UInt64, _ tree: BrowsedTree
    ) throws(Failure) {
        var status = stat()
        // What is not there at all is told by what was to be done with it.
        guard lstat(tree.file(path).cPath, &status) == 0, UInt64(status.st_ino) != item else {
            return
        }
        throw Failure(
            .temporary, "\(path): another file has this name by now, and is left as it is")
    }

    private static func act(on path: String, _ body: () throws(Errno) -> Void) throws(Failure) {
        do throws(Errno) { try body() } catch { throw Failure(.system, "\(path): \(error)") }
    }

    private static func set(
        _ name: String, _ value: String, of path: String, _ tree: BrowsedTree
    ) throws(Failure) {
        do throws(Errno) {
            try MountAttributes.set(
                "user.shapeedit." + name, Array(value.utf8), of: tree.file(path))
        } catch {
            if tree.mountPoint == nil || error.code == ENODEV {
                throw Failure(.usage, "this folder is in no container")
            }
            if error.code == ENOTSUP { throw Failure(.usage, "this container has no store") }
            let reason = try? PathAttributes.value("user.shapeedit.error", of: tree.file(path))
            let words = reason.map { String(decoding: $0, as: UTF8.self) } ?? "\(error)"
            throw Failure(.temporary, "\(path): \(words)")
        }
    }
}
