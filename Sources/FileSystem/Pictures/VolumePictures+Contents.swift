internal import Content
internal import Glibc
internal import Model
internal import Pictures
internal import SystemCalls

/// The contents that are drawn.
extension VolumePictures {
    /// What an order's content is; nil if the version is gone. To be let go.
    func take(_ order: PictureOrder) -> PictureInput? {
        // The last room on the disk is for documents.
        let hasRoom =
            volume.content.hasAmpleRoom
            || (try? volume.content.space()).map { $0.free > Volume.nearlyFullDisk } ?? false
        guard hasRoom else { return nil }
        // It is not thinned out while it is drawn.
        volume.state.withLock { $0.drawn.add(order.node) }
        let input = try? volume.followingMoves { () throws(Errno) -> PictureInput? in
            let content = volume.state.withLock { state in
                let staged = order.staged == nil ? nil : state.staged(order.node)
                return staged ?? state.published(order.node)
            }
            guard let content, content.size > 0 else { return nil }
            return try self.input(content, order.type)
        }
        if let input { return input }
        volume.state.withLock { $0.drawn.remove(order.node) }
        return nil
    }

    private func input(_ content: ContentReference, _ type: PictureType) throws(Errno)
        -> PictureInput?
    {
        let path = volume.content.path(of: content)
        if type.isOwn {
            switch try WorkerInput(content, in: volume.content) {
            case .bytes(let bytes): return .bytes(bytes)
            case .file(let file): return .file(file, path: path)
            case nil: return nil
            }
        }
        guard let file = try volume.content.openApart(content) else { return nil }
        return .file(SharedDescriptor(file), path: path)
    }
}

/// Pictures in the store.
extension VolumePictures {
    /// Brings a version's pictures to the store if its content is there.
    func upload(_ node: NodeNumber) {
        guard let stored = volume.link?.pictures, let type = shelf.type(node) else { return }
        let content = volume.state.withLock { $0.published(node) }
        guard let content, let hash = content.hash,
            content.place == .stored || content.place == .promised
        else { return }
        // All of them go at once, unless they cannot be drawn any more.
        let subject = volume.state.withLock { $0.pictureSubject(of: node) }
        if let subject, !subject.isPromise, complete(subject) { return }
        stored.upload(node, hash, type) { [shelf] in shelf.file($0) }
    }
}

extension VolumeState {
    /// What a session has staged; nil if it is over.
    fileprivate func staged(_ node: NodeNumber) -> ContentReference? {
        let position = index.find(node.item)
        guard position != 0, let session = session(of: node, at: position), session.isStaged else {
            return nil
        }
        // As large as it was when the close was acknowledged.
        return ContentReference(
            node: node, place: .staged, hash: nil, size: session.recorded?.size ?? 0)
    }

    /// A published version's content; nil if it is gone.
    func published(_ node: NodeNumber) -> ContentReference? {
        let position = index.find(node.item)
        guard position != 0, session(of: node, at: position) == nil else { return nil }
        return (try? content(of: node, at: position)) ?? nil
    }
}
