internal import Content
internal import Model
internal import Pictures
internal import Promises
internal import Stores

/// Pictures of documents whose contents are not here.
extension VolumePictures {
    /// Whether there may be a picture of a promise: one in the store or, unless only that counts, the
    /// preview in its content.
    func mayFetch(_ subject: PictureSubject, onlyStored: Bool) -> Bool {
        // Or it is being made of the content before that goes.
        if contents.holds(subject.node) { return false }
        if subject.away == .promised, volume.link?.pictures.mayHave(subject.node) == true {
            return true
        }
        return !onlyStored && mayHavePreview(subject.node, subject.type)
    }

    private func mayHavePreview(_ node: NodeNumber, _ type: PictureType) -> Bool {
        type.hasPreview && maker.canDraw(type, fileName: "preview." + type.end)
            && photos.mayHave(node)
    }

    /// The pictures of a promise, or a photo to be read where there are none; nil if its content is here,
    /// or nothing can be had.
    func fetch(_ order: PictureOrder) -> PictureInput? {
        let content = volume.state.withLock { $0.published(order.node) }
        guard let content, let hash = content.hash, content.place.isAway else { return nil }
        let input: PictureInput
        if content.place == .promised,
            let file = volume.link?.pictures.fetch(order.node, hash, order.type)
        {
            input = .pictures(file)
        } else if !order.isOnlyStored, mayHavePreview(order.node, order.type),
            let downloads = content.place == .promised
                ? volume.link?.downloads : volume.sources?.downloads
        {
            let blob = Blob(hash: hash, size: content.size)
            input = .photo(photos.photo(order.node, blob, from: downloads))
        } else {
            return nil
        }
        volume.state.withLock { $0.drawn.add(order.node) }
        return input
    }

    /// Keeps what came of a fetch. That there is no preview says nothing of the content, which is
    /// drawn when it is here; and what was made of a preview does not go to the store, which would
    /// take it for all that there can be.
    func keepFetched(_ outcome: PictureOutcome, of order: PictureOrder) {
        if case .failed = outcome { return photos.noteNothing(order.node) }
        guard let file = outcome.file(order.type), (try? shelf.put(file, for: order.node)) != nil
        else { return }
        removeIfGone(order.node)
    }
}
