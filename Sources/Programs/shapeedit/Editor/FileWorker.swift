import DocumentFiles
import DocumentKit
import Editing
import Editor
import Model
import SystemCalls

/// Reads and writes the document on a thread of its own, one thing after the other: locks of
/// others may take seconds. What comes of it goes to the inbox in the same order.
final class FileWorker: Sendable {
    private enum Job: Sendable {
        case look
        case effect(EditorEffect)

        /// Whether something would be lost without it, and not only seen later.
        var isChange: Bool {
            switch self {
            case .effect(.save), .effect(.create), .effect(.keepCopy), .effect(.undo),
                .effect(.redo):
                true
            case .effect, .look: false
            }
        }
    }

    private struct Work: Sendable {
        var jobs: [Job] = []
        /// The one that is under way.
        var current: Job?
    }

    private let work = Monitor(Work())

    init(_ file: DocumentFile, _ stamp: FileStamp, _ inbox: EventInbox<EditorEvent>) {
        let work = work
        Threads.start("document") {
            var hand = FileHand(place: FollowedFile(file), seen: stamp, inbox: inbox)
            while true {
                let job = work.wait { work -> Job? in
                    guard !work.jobs.isEmpty else { return nil }
                    work.current = work.jobs.removeFirst()
                    return work.current
                }
                switch job {
                case .look: hand.look()
                case .effect(let effect): hand.perform(effect)
                case nil: break
                }
                work.signal { $0.current = nil }
            }
        }
    }

    /// Looks whether others changed the file; asked several times while busy, it looks once.
    func look() {
        work.signal { work in
            if case .look = work.jobs.last { return }
            work.jobs.append(.look)
        }
    }

    func perform(_ effect: EditorEffect) { work.signal { $0.jobs.append(.effect(effect)) } }

    /// Documents that were to be kept beside the one that others changed, and are not yet.
    var unkept: [EditableDocument] {
        work.withLock { work in
            ([work.current].compactMap { $0 } + work.jobs).compactMap { job in
                if case .effect(.keepCopy(let document)) = job { document } else { nil }
            }
        }
    }

    /// Waits until all changes are made, but no longer than this: whoever keeps the document may never
    /// answer, such as a mount whose daemon is stopped.
    ///
    /// - Returns: whether they are.
    func finish(within milliseconds: UInt64) -> Bool {
        let end = MonotonicClock.after(milliseconds: milliseconds)
        let isDone = work.wait(until: end) { work in
            work.current?.isChange != true && !work.jobs.contains(where: \.isChange) ? true : nil
        }
        return isDone == true
    }
}

/// What the thread of the document knows.
private struct FileHand: ~Copyable {
    var place: FollowedFile
    /// The state of the file that was read last; nil if it was gone.
    var seen: FileStamp?
    let inbox: EventInbox<EditorEvent>

    private var file: DocumentFile { place.file }

    /// Whether the document is anywhere; tells where, if that is new.
    ///
    /// - Parameter done: how many steps of a save that is under way are in the file.
    private mutating func find(done: Int = 0) -> Bool {
        switch place.find() {
        case .same: return true
        case .moved:
            inbox.put(.moved(to: file.path))
            return true
        case .deleted: return lose("It was deleted; w writes it anew", done)
        case .unmounted: return lose("The container it is in is not mounted", done)
        }
    }

    private mutating func lose(_ reason: String, _ done: Int) -> Bool {
        seen = nil
        inbox.put(.gone(reason, done: done))
        return false
    }

    mutating func look() {
        let stamp = file.stamp()
        guard stamp != seen, find() else { return }
        seen = stamp
        read { .loaded($0) }
    }

    private mutating func read(_ event: (EditableDocument) -> EditorEvent) {
        do throws(Failure) {
            let document = try load()
            inbox.put(event(document))
        } catch { inbox.put(.unreadable(error.message)) }
    }

    /// What the file holds now, and holds on to that file.
    private mutating func load() throws(Failure) -> EditableDocument {
        let loaded = try file.load()
        seen = loaded.stamp
        _ = find()
        return loaded.document
    }

    mutating func perform(_ effect: EditorEffect) {
        switch effect {
        case .save(let steps, let shown): save(steps, shown)
        case .create(let document): create(document)
        case .load: read { .loaded($0) }
        case .undo: step(isUndo: true)
        case .redo: step(isUndo: false)
        case .keepCopy(let document):
            do throws(Failure) {
                let whereabouts = place.find()
                if whereabouts == .moved { inbox.put(.moved(to: file.path)) }
                let isMounted = whereabouts != .unmounted
                let name = try ConflictCopy.keep(of: file.path, isMounted: isMounted) {
                    (path, mode) throws(Failure) in
                    try DocumentFile.create(path, document, mode: mode)
                }
                inbox.put(.keptCopy(name))
            } catch { inbox.put(.copyFailed(error.message)) }
        case .suspend, .redraw, .quit: break
        }
    }

    private mutating func save(_ steps: [Step], _ shown: EditableDocument) {
        var done = 0
        var tries = 0
        var historyProblem: String?
        while done < steps.count {
            guard find(done: done) else { return }
            var refusal: EditError?
            do throws(Failure) {
                let step = steps[done]
                let edited = try file.edit(
                    describedAs: step.description, successor: { place.follow(successor: $0) }
                ) { document throws(Failure) in
                    do throws(EditError) { return try step.apply(to: &document) } catch {
                        refusal = error
                        throw Failure(.badData, error.description)
                    }
                }
                historyProblem = edited.historyProblem ?? historyProblem
                done += 1
            } catch {
                tries += 1
                // It was moved just now.
                if file.stamp() == nil, tries < 3 { continue }
                tell(historyProblem)
                if let refusal {
                    let now = try? file.load().document
                    inbox.put(.conflict(refusal.description, done: done, file: now))
                } else if error.kind == .badData {
                    inbox.put(.conflict(error.message, done: done, file: nil))
                } else {
                    inbox.put(.saveFailed(error.message, done: done))
                }
                return
            }
        }
        tell(historyProblem)
        do throws(Failure) {
            let document = try load()
            inbox.put(.saved(document))
        } catch { inbox.put(.saved(shown)) }
    }

    private func tell(_ historyProblem: String?) {
        if let historyProblem { inbox.put(.unkept(historyProblem)) }
    }

    private mutating func create(_ document: EditableDocument) {
        do throws(Failure) {
            if place.find() == .unmounted {
                throw Failure(.temporary, "the container it is in is not mounted")
            }
            try DocumentFile.create(file.path, document)
            seen = file.stamp()
            _ = find()
            inbox.put(.saved(document))
        } catch { inbox.put(.saveFailed(error.message, done: 0)) }
    }

    private mutating func step(isUndo: Bool) {
        do throws(Failure) {
            guard find() else { throw Failure(.noInput, "There is no document to go back in") }
            let made =
                isUndo
                ? try file.undo { place.follow(successor: $0) }
                : try file.redo { place.follow(successor: $0) }
            let document = try load()
            inbox.put(.stepped(made?.description, isUndo: isUndo, file: document))
        } catch { inbox.put(.stepFailed(error.message)) }
    }
}
