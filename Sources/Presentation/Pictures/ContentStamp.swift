package import Content
internal import Model

/// Tells a state of a content that is being written from all others: equal stamps of one node mean
/// equal bytes.
///
/// As with a close itself, what the kernel writes without the daemon is noticed by the file's times,
/// and what the daemon writes by the count.
package struct ContentStamp: Equatable, Sendable {
    private let size: Int64
    private let modified: Timestamp
    private let changed: Timestamp
    private let writes: UInt64

    /// - Parameters:
    ///   - status: of the file, or what stands for it.
    ///   - writes: how often the daemon has changed the content.
    package init(_ status: FileStatus, writes: UInt64) {
        // Not the blocks: they change when the kernel writes the file out.
        size = status.size
        modified = status.modified
        changed = status.changed
        self.writes = writes
    }
}
