internal import DocumentKit
internal import Glibc
internal import Model
internal import SystemCalls

/// A change that the history has noted before the close that publishes it.
///
/// In a mount that close can fail, as where the disk is full: the document is what it was then, and a step
/// back must not lead to what never was in it.
struct NotedChange {
    /// Of the document, absolute.
    let path: String
    /// As the caller named it, for messages.
    let name: String
    /// What the document held, and was to hold.
    let before, after: [UInt8]
    /// What the history was before a step in it; `nil` where the change is a state of its own.
    let former: HistorySteps?

    /// How long the end of the failed session is waited for, in milliseconds: until the kernel has told of it
    /// this process reads what could not be saved.
    private static let patience: UInt64 = 1_000

    /// Has the history forget the change, unless it was made all the same or others were faster. What cannot
    /// be had is left: it costs a step that leads nowhere new.
    func takeBack() {
        let deadline = MonotonicClock.after(milliseconds: Self.patience)
        while (try? isTakenBack()) == false, MonotonicClock.now < deadline { usleep(10_000) }
    }

    /// Whether that is done, or not to be done; `false` if it is to be tried again.
    private func isTakenBack() throws(Errno) -> Bool {
        // Not for writing: that would go on with the failed session, and could publish what it has.
        var file = try OwnedDescriptor.open(path, O_RDONLY)
        guard try PlainLock.take(&file, writes: true) else { return false }
        guard PlainLock.isStill(path, file.number) else { return true }
        let found = try? WholeFile.read(file)
        if found == after { return false }
        if found == before {
            HistoryJournal(of: file, isCoordinated: true).forget(after, for: former, at: path)
        }
        return true
    }
}

extension FileClaim {
    /// Ends the claim as ``end(_:)`` does, and has the history forget the change if that cannot be published.
    consuming func end(_ change: NotedChange) throws(Failure) {
        let isCoordinated = isCoordinated
        do throws(Failure) { try end(change.name) } catch {
            if isCoordinated { change.takeBack() }
            throw error
        }
    }
}
