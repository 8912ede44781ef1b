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
    }

    private struct Work: Sendable {
        var jobs: [Job] = []
        var isBusy = false
    }

    private let work = Monitor(Work())

    init(_ file: DocumentFile, _ stamp: FileStamp, _ inbox: EventInbox<EditorEvent>) {
        let work = work
        Threads.start("document") {
            var hand = FileHand(file: file, seen: stamp, inbox: inbox)
            while true {
                let job = work.wait { work -> Job? in
                    guard !work.jobs.isEmpty else { return nil }
                    work.isBusy = true
                    return work.jobs.removeFirst()
                }
                switch job {
                case .look: hand.look()
                case .effect(let effect): hand.perform(effect)
                case nil: break
                }
                work.signal { $0.isBusy = false }
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

    /// Waits until all is done.
    func finish() {
        let work = work
        _ = work.wait { $0.jobs.isEmpty && !$0.isBusy ? true : nil }
    }
}

/// What the thread of the document knows.
private struct FileHand {
    let file: DocumentFile
    /// The state of the file that was read last; nil if it was gone.
    var seen: FileStamp?
    let inbox: EventInbox<EditorEvent>

    mutating func look() {
        let stamp = file.stamp()
        guard stamp != seen else { return }
        seen = stamp
        read { .loaded($0) }
    }

    private mutating func read(_ event: (EditableDocument) -> EditorEvent) {
        do throws(Failure) {
            let loaded = try file.load()
            seen = loaded.stamp
            inbox.put(event(loaded.document))
        } catch { inbox.put(.unreadable(error.message)) }
    }

    mutating func perform(_ effect: EditorEffect) {
        switch effect {
        case .save(let steps, let shown): save(steps, shown)
        case .load: read { .loaded($0) }
        case .undo: step(isUndo: true)
        case .redo: step(isUndo: false)
        case .keepCopy(let document):
            do throws(Failure) {
                let name = try ConflictCopy.keep(of: file.path) { (path) throws(Failure) in
                    try DocumentFile.create(path, document)
                }
                inbox.put(.keptCopy(name))
            } catch { inbox.put(.copyFailed(error.message)) }
        case .suspend, .redraw, .quit: break
        }
    }

    private mutating func save(_ steps: [Step], _ shown: EditableDocument) {
        for (done, step) in steps.enumerated() {
            var refusal: EditError?
            do throws(Failure) {
                _ = try file.edit(describedAs: step.description) { document throws(Failure) in
                    do throws(EditError) { return try step.apply(to: &document) } catch {
                        refusal = error
                        throw Failure(.badData, error.description)
                    }
                }
            } catch {
                if file.stamp() == nil {
                    writeAgain(shown)
                } else if let refusal {
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
        do throws(Failure) {
            let loaded = try file.load()
            seen = loaded.stamp
            inbox.put(.saved(loaded.document))
        } catch { inbox.put(.saved(shown)) }
    }

    /// Somebody removed the file: the document that is being edited is there again.
    private mutating func writeAgain(_ shown: EditableDocument) {
        do throws(Failure) {
            try DocumentFile.create(file.path, shown)
            seen = file.stamp()
            inbox.put(.saved(shown))
        } catch { inbox.put(.saveFailed(error.message, done: 0)) }
    }

    private mutating func step(isUndo: Bool) {
        do throws(Failure) {
            let made = isUndo ? try file.undo() : try file.redo()
            let loaded = try file.load()
            seen = loaded.stamp
            inbox.put(.stepped(made?.description, isUndo: isUndo, file: loaded.document))
        } catch { inbox.put(.stepFailed(error.message)) }
    }
}
