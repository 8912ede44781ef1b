package import Model

/// Immutable bytes: their name, which is their hash, and how many there are. Whoever asks for a blob
/// knows both, so a store's answer of another length is found out before its bytes have come.
package struct Blob: Hashable, Sendable {
    package let hash: ContentHash
    /// Bytes, not negative.
    package let size: Int64

    /// - Parameter size: one that cannot be, as a damaged catalog may have it, counts as the largest: no store
    ///   has such a blob.
    package init(hash: ContentHash, size: Int64) {
        let largest = VersionRow.largestSize
        self.hash = hash
        self.size = (0...largest).contains(size) ? size : largest
    }

    /// All of it.
    package var range: Range<Int64> { 0..<size }
}

/// Part of a store's listing: blobs in ascending order of their hexadecimal names.
package struct BlobPage: Equatable, Sendable {
    package var blobs: [Blob]
    /// Whether there is nothing after the last of these. A page that is not the last holds at least
    /// one blob.
    package var isLast: Bool

    package init(blobs: [Blob], isLast: Bool) {
        self.blobs = blobs
        self.isLast = isLast
    }
}
