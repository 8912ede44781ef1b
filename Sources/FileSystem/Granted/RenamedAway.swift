internal import Catalog
internal import Model
internal import SystemCalls

/// Granted documents that processes have renamed to backups of their own, as sed -i.bak, cp -b and vim do
/// before they make the document anew. The owner's document stays where it is, and stays to be seen by
/// all others; for the process its name leads nowhere until it has made it, or the time is over.
///
/// A value; times are monotonic nanoseconds.
struct RenamedAway {
    /// As long as documents keep their identity that are renamed away and made anew.
    private static let age = UInt64(IdentityTunnel.lifetime * 1_000_000_000)

    private struct Entry {
        var owner: String
        var document: DocumentID
        var process: Int32
        var until: UInt64
    }
    private var entries: [Entry] = []

    mutating func note(_ document: DocumentID, of owner: String, by process: Int32) {
        end(document, of: owner, for: process)
        let now = MonotonicClock.now
        entries.removeAll { $0.until <= now }
        entries.append(
            Entry(owner: owner, document: document, process: process, until: now + Self.age))
    }

    /// The processes for which the document's name leads nowhere.
    func processes(_ document: DocumentID, of owner: String) -> [Int32] {
        if entries.isEmpty { return [] }
        let now = MonotonicClock.now
        return entries.filter { $0.document == document && $0.owner == owner && $0.until > now }
            .map(\.process)
    }

    /// The process has made the document anew.
    mutating func end(_ document: DocumentID, of owner: String, for process: Int32) {
        entries.removeAll {
            $0.document == document && $0.owner == owner && $0.process == process
        }
    }
}
