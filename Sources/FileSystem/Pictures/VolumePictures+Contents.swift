internal import Content
internal import Glibc
internal import Model
internal import Pictures
internal import SystemCalls

/// The contents that are drawn.
extension VolumePictures {
    /// Whether there is room for pictures: the last on the disk is for documents.
    var hasRoom: Bool {
        volume.content.hasAmpleRoom
            || (try? volume.content.space()).map { $0.free > Volume.nearlyFullDisk } ?? false
    }

    /// What an order's content is; nil if the version is gone. To be let go.
    func take(_ order: PictureOrder) -> PictureInput? {
        guard hasRoom else { return nil }
        // It is not thinned out while it is drawn.
        volume.state.withLock { $0.drawn.add(order.node) }
        if let input = leaving(order.node) { return input }
        let input = try? volume.followingMoves { () throws(Errno) -> PictureInput? in
            let content = volume.state.withLock { state in
                let staged = order.staged == nil ? nil : state.staged(order.node)
                return staged ?? state.published(order.node)
            }
            guard let content, content.size > 0 else { return nil }
            return try self.input(content, of: order)
        }
        if let input { return input }
        volume.state.withLock { $0.drawn.remove(order.node) }
        return nil
    }

    /// A content that was let go otherwise.
    private func leaving(_ node: NodeNumber) -> PictureInput? {
        guard let path = contents.take(node),
            let file = try? OwnedDescriptor.open(path, O_RDONLY)
        else { return nil }
        return .file(SharedDescriptor(file), path: path)
    }

    private func input(_ content: ContentReference, of order: PictureOrder) throws(Errno)
        -> PictureInput?
    {
        if order.type.isOwn {
            let path = volume.content.path(of: content)
            switch try WorkerInput(content, in: volume.content) {
            case .bytes(let bytes): return .bytes(bytes)
            case .file(let file): return .file(file, path: path)
            case nil: return nil
            }
        }
        guard let file = try volume.content.openApart(content) else { return nil }
        // The program gets a path once for each size, and the content may move in between.
        let path = contents.add(order.node, file.number) ?? volume.content.path(of: content)
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
            content.place == .stored || content.place == .promised, !contents.holds(node)
        else { return }
        // All of them go at once, unless they cannot be drawn any more.
        let subject = volume.state.withLock { $0.pictureSubject(of: node) }
        if let subject, complete(subject) { return }
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
