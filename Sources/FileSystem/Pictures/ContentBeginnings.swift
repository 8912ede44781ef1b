internal import Model
internal import Promises
internal import Stores

/// Brings the first bytes of contents that are not here, for the previews in them. Any thread.
///
/// A version is asked for once; again only after a while if that came to nothing, and never if it has
/// no preview.
final class ContentBeginnings: Sendable {
    /// Bytes of a content that are brought at most: the segment with the preview is 64 KiB at most, and
    /// may follow others.
    private static let bytes: Int64 = 128 << 10

    private let fetches = PictureFetches()

    /// Whether the beginning of a version may be asked for now.
    func mayHave(_ node: NodeNumber) -> Bool { fetches.mayAsk(node) }

    /// The first bytes of a version's content; nil if they cannot be had now. Waits for the store.
    func fetch(_ node: NodeNumber, _ blob: Blob, from downloads: Downloads) -> [UInt8]? {
        fetches.skip(node)
        return fetches.fetch(node) { call throws(StoreError) in
            try downloads.beginning(of: blob, count: Self.bytes, call)
        }
    }

    /// The version has no preview, and will have none.
    func noteNothing(_ node: NodeNumber) { fetches.skip(node, forEver: true) }

    /// Ends what is in progress.
    func stop() { fetches.stop() }
}
