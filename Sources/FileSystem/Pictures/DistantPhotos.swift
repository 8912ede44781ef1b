internal import Model
internal import Pictures
internal import Promises
internal import Stores

/// Reads photos whose contents are not here, for the previews in them. Any thread.
///
/// A version is read once; again only after a while if that came to nothing, and never if it has no
/// preview.
final class DistantPhotos: Sendable {
    private let fetches = PictureFetches()

    /// Whether a version may be read now.
    func mayHave(_ node: NodeNumber) -> Bool { fetches.mayAsk(node) }

    /// A version's content, to be read within the next seconds, and not again for a while.
    func photo(_ node: NodeNumber, _ blob: Blob, from downloads: Downloads) -> DistantPhoto {
        fetches.skip(node)
        let deadline = PictureFetches.deadline
        return DistantPhoto(size: Int(blob.size)) { [fetches] range in
            fetches.fetch(node, until: deadline) { call throws(StoreError) in
                try downloads.part(
                    of: blob, Int64(range.lowerBound)..<Int64(range.upperBound), call)
            }
        }
    }

    /// The version has no preview, and will have none.
    func noteNothing(_ node: NodeNumber) { fetches.skip(node, forEver: true) }

    /// Ends what is in progress.
    func stop() { fetches.stop() }
}
