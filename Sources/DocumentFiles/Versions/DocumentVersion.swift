/// One version of a document in a mount.
package struct DocumentVersion: Hashable, Sendable {
    /// What it is called, as in `17-3`; never given to another.
    package var name: String
    /// The file that holds its content; for the current version the document itself.
    package var path: String
    /// The content's modification time, in nanoseconds since 1970.
    package var modified: Int64
    /// When it became the current version, in nanoseconds since 1970; `nil` of the current one.
    package var published: Int64?
    /// Bytes.
    package var size: Int64
    /// The user who wrote it; `nil` of the current one.
    package var author: UInt32?
    package var isCurrent: Bool
    /// Whether it stays whatever its age.
    package var isPinned: Bool
    /// Whether it was replaced by somebody who had not seen it, and nobody has resolved that.
    package var isConflict: Bool
    /// Whether the content is here, not only in the store.
    package var isLocal: Bool
}
