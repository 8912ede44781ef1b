package import Model

/// Remembers for a moment which document a name stood for after the name went away, so that a file
/// which the same process then makes under that name goes on being that document.
///
/// That is how editors save which rename the old file to a backup, or unlink it, and write a new
/// one.
/// Pure: no clock, no threads.
package struct IdentityTunnel: Sendable {
    /// Seconds that a document waits for its name to come back: more than any program needs between
    /// the two halves of a save, less than a person needs to make another file of that name.
    package static let lifetime: Double = 15
    /// Names remembered at most; the oldest go first. A save needs one.
    package static let capacity = 1_024

    private struct Key: Hashable {
        let parent: ItemNumber
        let name: [UInt8]
    }

    private struct Entry {
        let document: DocumentID
        let process: Int32
        let at: Timestamp
        let serial: UInt64
    }

    private var entries: [Key: Entry] = [:]
    /// Keys in the order of their notes, with the note's serial: those of claimed or renewed
    /// entries match none and are passed over.
    private var order: [(key: Key, serial: UInt64)] = []
    /// Where in ``order`` the oldest key stands; those before it are gone.
    private var oldest = 0
    private var serial: UInt64 = 0

    package init() {}

    /// The documents that they stood for.
    package var documents: Set<DocumentID> { Set(entries.values.lazy.map(\.document)) }

    /// Remembers that `name` went away, unlinked or renamed, while it stood for `document`. A later
    /// note of the same name replaces the earlier one.
    package mutating func note(
        parent: ItemNumber, name: [UInt8], document: DocumentID, process: Int32, at time: Timestamp
    ) {
        let key = Key(parent: parent, name: name)
        serial += 1
        entries[key] = Entry(document: document, process: process, at: time, serial: serial)
        order.append((key, serial))
        while entries.count > Self.capacity { forgetOldest() }
        // Passed-over keys are swept out now and then, at a cost that the notes between have paid.
        if order.count > 4 * Self.capacity {
            order.removeAll { entries[$0.key]?.serial != $0.serial }
            oldest = 0
        }
    }

    /// The document that the name stood for, once, if `process` took the name away at most
    /// ``lifetime`` ago; else `nil`.
    package mutating func claim(
        parent: ItemNumber, name: [UInt8], process: Int32, at time: Timestamp
    ) -> DocumentID? {
        if entries.isEmpty { return nil }
        let key = Key(parent: parent, name: name)
        guard let entry = entries[key], entry.process == process else { return nil }
        entries[key] = nil
        // A clock that was set back makes a note come from the future; it is not older for that.
        return abs(time.secondsSince(entry.at)) <= Self.lifetime ? entry.document : nil
    }

    private mutating func forgetOldest() {
        let (key, serial) = order[oldest]
        oldest += 1
        if entries[key]?.serial == serial { entries[key] = nil }
    }
}
