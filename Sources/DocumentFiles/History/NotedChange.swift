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

    /// Has the history forget the change, unless it was made all the same or others were faster. What cannot
    /// be had is left: it costs a step that leads nowhere new.
    func takeBack() {
        guard let claim = try? FileClaim(path, named: name, isReader: true), claim.isCoordinated,
            (try? WholeFile.read(claim.file)) == before
        else { return }
        HistoryJournal(of: claim.file, isCoordinated: true).forget(after, for: former, at: path)
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
