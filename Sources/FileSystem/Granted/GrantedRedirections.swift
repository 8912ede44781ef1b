internal import Model
internal import SystemCalls

/// Threads that were sent round by ESTALE because the node that they came to with an open is not the one for
/// them: of another version than there is by now, or of a version while they come to write.
///
/// The kernel walks a path again once only; who comes to such a node a second time is not sent again.
///
/// A value; times are monotonic nanoseconds.
struct GrantedRedirections {
    /// How long a thread that comes to write is expected, and how long it is remembered.
    private static let age: UInt64 = 2_000_000_000

    private struct Entry {
        var owner: String
        var document: DocumentID
        var writes: Bool
        var until: UInt64
    }
    private var entries: [Int32: Entry] = [:]

    /// Sends a thread round, unless it was a moment ago.
    mutating func send(
        _ thread: Int32, to document: DocumentID, of owner: String, writes: Bool
    ) -> Bool {
        let now = MonotonicClock.now
        if let known = entries.removeValue(forKey: thread), known.until > now,
            known.document == document, known.owner == owner, known.writes == writes
        {
            return false
        }
        if entries.count > 256 { entries = entries.filter { $0.value.until > now } }
        entries[thread] = Entry(
            owner: owner, document: document, writes: writes, until: now + Self.age)
        return true
    }

    /// Whether the thread was sent round to write the document, and has not come yet.
    func expects(_ thread: Int32, at document: DocumentID, of owner: String) -> Bool {
        guard let known = entries[thread], known.writes else { return false }
        return known.document == document && known.owner == owner
            && known.until > MonotonicClock.now
    }

    /// The thread has come to the node for it.
    mutating func end(_ thread: Int32) { entries[thread] = nil }
}
