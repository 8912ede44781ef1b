package import Model

/// Part of a blob, or of something made of it, that a put has left in a store which was cut off.
package struct Remnant: Hashable, Sendable {
    /// The blob's.
    package let hash: ContentHash
    /// The store's own name for it: no other remnant has it, now or later.
    package let name: String
    /// Whether a later put of the blob goes on with it.
    package let isResumable: Bool

    package init(hash: ContentHash, name: String, isResumable: Bool) {
        self.hash = hash
        self.name = name
        self.isResumable = isResumable
    }
}
