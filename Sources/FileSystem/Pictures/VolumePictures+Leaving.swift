internal import Content
internal import Model
internal import Pictures
internal import Stores

/// Pictures of documents whose contents are let go here before anybody has looked at them.
extension VolumePictures {
    /// Keeps a content that is about to go, if the version has no picture and may have one; the order to
    /// be given to ``drawLeaving(_:)`` when it is gone. Waits for the disk.
    ///
    /// - Parameter isNeeded: whether its file stays for others, as long as they do.
    func keepLeaving(_ node: NodeNumber, _ blob: Blob, isNeeded: Bool) -> PictureOrder? {
        let subject = volume.state.withLock { $0.pictureSubject(of: node) }
        guard let subject, subject.node == node, hasRoom, let order = missing(subject),
            contents.keep(
                node, volume.content.folder.blob(blob.hash), bytes: isNeeded ? 0 : blob.size)
        else { return nil }
        return order
    }

    /// Has these drawn, of what was kept of them.
    func drawLeaving(_ orders: [PictureOrder]) {
        for order in orders where !queue.ask(order, isLasting: true) { contents.drop(order.node) }
    }

    /// Has drawn what an earlier run let go and had not drawn when it ended or died. What became of the others,
    /// which were drawn while they were here, nobody knows: they are drawn when somebody asks. Before anything is
    /// published.
    func drawLeft() {
        let orders = contents.waiting.compactMap { node -> PictureOrder? in
            let subject = volume.state.withLock { $0.pictureSubject(of: node) }
            if let subject, subject.node == node, subject.isPromise, let order = missing(subject) {
                return order
            }
            contents.drop(node)
            return nil
        }
        drawLeaving(orders)
    }
}
