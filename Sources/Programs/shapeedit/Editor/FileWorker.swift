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

    /// - Parameter loaded: what the file held when it was read.
    init(_ file: DocumentFile, _ loaded: DocumentFile.Loaded, _ inbox: EventInbox<EditorEvent>) {
        let work = work
        Threads.start("document") {
            var hand = FileHand(file, loaded, inbox)
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
