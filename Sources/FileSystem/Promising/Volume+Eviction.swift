internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import Promises
internal import Stores
internal import SystemCalls

/// Letting contents go that the store has, bringing them, and saying which should be here.
extension Volume {
    /// What the user wants of a document's content.
    enum Pin: String {
        /// It stays here.
        case keep
        /// It is here as long as there is room.
        case usual = "default"
        /// It goes as soon as the store has it and nobody has it open.
        case onlineOnly = "online-only"
    }

    static let pinAttribute = ownPrefix + Array("pin".utf8)

    /// The pin of the item, or of the nearest folder above that has one.
    func pin(of node: NodeNumber) -> Pin {
        state.withLock { state in
            var position = state.index.find(node.item)
            while position != 0 {
                if let value = state.index.attributes[position]?[Self.pinAttribute],
                    let pin = Pin(rawValue: String(decoding: value, as: UTF8.self))
                {
                    return pin
                }
                position = state.index.parent(of: position)
            }
            return .usual
        }
    }

    /// Lets the local copy of a document's current version go, or stops bringing it. Throws EBUSY if
    /// it has to stay for now, ENOTSUP without a store; the reason is kept for the user.
    func evict(_ node: NodeNumber) throws(Errno) {
        guard let link else { throw Errno(ENOTSUP) }
        if pin(of: node) == .keep {
            link.note("it is pinned: `shapeedit unpin` first", for: currentNode(node))
            throw Errno(EBUSY)
        }
        let found = try state.withLock { (state) throws(Errno) -> (NodeNumber, Blob)? in
            let position = try state.position(node)
            let record = state.index[item: position]
            let current = record.pointee.node
            if let reason = state.reasonToStay(position) {
                link.note(reason, for: current)
                throw Errno(EBUSY)
            }
            guard let hash = record.pointee.hash else { return nil }
            state.arrived.remove(current)
            if record.pointee.place == .stored {
                state.place(current, .promised, hash, .evicted)
            }
            return (current, Blob(hash: hash, size: record.pointee.size))
        }
        guard let (current, blob) = found else { return }
        // It went with the content or when it was drawn, unless the daemon died in between.
        pictures?.upload(current)
        link.downloads.leave(blob.hash)
        try log.synchronize()
        let needed: Bool? = blobs.withLock { _ in
            let isBack = state.withLock { $0.arrived.contains(current) }
            if isBack { return true }
            let needed: Bool? = try? container.query { (database) throws(Failure) in
                try database.isBlobNeeded(blob.hash)
            }
            if needed == false {
                content.forget(current)
                content.evictBlob(blob.hash)
            }
            return needed
        }
        if needed == nil { throw Errno(EIO) }
        link.note(nil, for: current)
        refresh([current]) {}
    }

    /// Stops bringing a document's content; who waits for it gets an error.
    func cancel(_ node: NodeNumber) throws(Errno) {
        let content = try read { (state) throws(Errno) in
            state.content(try state.position(node))
        }
        if let hash = content.hash { link?.downloads.cancel(hash) }
    }

    /// Begins to bring the content of a document's current version.
    func materialize(_ node: NodeNumber) throws(Errno) {
        guard let link else { return }
        let current = currentNode(node)
        guard let blob = missing(current) else { return }
        link.note(nil, for: current)
        link.downloads.want(blob, for: current)
    }

    /// Sets or takes away the pin of a document or folder, and acts on what is below.
    func act(on pin: Pin, below node: NodeNumber) throws(Errno) {
        guard link != nil else { return }
        for document in try documents(below: node) {
            switch pin {
            case .keep: try materialize(document)
            case .onlineOnly: try? evict(document)
            case .usual: break
            }
        }
    }

    /// The node of the item's current version; `node` itself if the item is gone.
    func currentNode(_ node: NodeNumber) -> NodeNumber {
        state.withLock { state in
            let position = state.index.find(node.item)
            return position == 0 ? node : state.index[item: position].pointee.node
        }
    }

    /// The regular files of a tree, or the file itself.
    private func documents(below node: NodeNumber) throws(Errno) -> [NodeNumber] {
        try read { (state) throws(Errno) in
            var found: [NodeNumber] = []
            var left = [try state.position(node)]
            while let position = left.popLast() {
                let record = state.index[item: position]
                if record.pointee.isRegular { found.append(record.pointee.node) }
                guard record.pointee.isDirectory else { continue }
                var name = state.index.child(of: position, after: 0)
                while name != 0 {
                    left.append(state.index[name: name].pointee.item)
                    name = state.index[name: name].pointee.next
                }
            }
            return found
        }
    }
}

extension VolumeState {
    /// Why the current version's bytes cannot go now; `nil` if they can.
    func reasonToStay(_ position: MemoryIndex.Position) -> String? {
        let record = index[item: position]
        guard record.pointee.isRegular else { return "it is not a document" }
        if record.pointee.flags.contains(.inSession) { return "it is being written" }
        if let mode = modes[record.pointee.node.rawValue], mode.cached + mode.passthrough > 0 {
            return "it is open"
        }
        if held.contains(record.pointee.node) { return "it is open" }
        switch record.pointee.place {
        case .staged, .durable, .sealed: return "it is not in the store yet"
        case .none, .stored, .promised: return nil
        }
    }
}
