internal import Catalog
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Which contents should be here: what pins say, and seeing to it.
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
    func pin(of node: NodeNumber) -> Pin { state.withLock { $0.pin(of: node).pin } }

    /// Sets or takes away the pin of a document or folder, and acts on what is below.
    func act(on pin: Pin, below node: NodeNumber) throws(Errno) {
        state.withLock { $0.pins.isInUse = true }
        for document in try documents(below: node) {
            switch pin {
            case .keep: try materialize(document)
            case .onlineOnly: try? evict(document)
            case .usual: break
            }
        }
        if pin == .usual, quota.isLimited {
            // What had to stay may go.
            state.withLock { $0.quota.isDue = true }
            keeper.wake()
        }
    }

    /// Items were moved from one folder to another, where another pin may hold.
    func notePins(of items: [ItemNumber], movedBetween folders: (NodeNumber, NodeNumber)) {
        if folders.0 == folders.1 || !mayMiss { return }
        let isOther = state.withLock { state -> Bool in
            guard state.pins.isInUse,
                state.pin(of: folders.0).pin != state.pin(of: folders.1).pin
            else { return false }
            state.pins.moved.formUnion(items)
            return true
        }
        if isOther { keeper.wake() }
    }

    /// An import has made documents in a folder, or given them other contents.
    func notePins(ofImported folder: ItemNumber) {
        let isInUse = state.withLock { state -> Bool in
            if state.pins.isInUse { state.pins.moved.insert(folder) }
            return state.pins.isInUse
        }
        if isInUse { keeper.wake() }
    }

    /// Contents did not come, for a reason that may pass: those that are to stay here are asked for again.
    func noteMissing(_ nodes: Set<NodeNumber>) {
        state.withLock { state in
            guard state.pins.isInUse else { return }
            for node in nodes where state.pin(of: node).pin == .keep {
                state.pins.didNotCome(node)
            }
        }
    }

    /// The regular files of a tree, or the file itself.
    fileprivate func documents(below node: NodeNumber) throws(Errno) -> [NodeNumber] {
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

/// On the keeper's thread.
extension Weeding {
    /// Documents looked at before others get the volume's lock.
    private static let looked = 4_096

    /// Finds what is pinned when the container is mounted: what was to come may not have come before.
    func findPins() {
        guard volume.mayMiss else { return }
        volume.state.withLock { state in
            for (position, values) in state.index.attributes
            where values[Volume.pinAttribute] != nil {
                state.pins.isInUse = true
                state.pins.moved.insert(state.number(position))
            }
        }
    }

    /// Sees to what pins ask for of what was moved or imported, or did not come.
    func followPins() {
        let (moved, missing) = volume.state.withLock { state in
            (state.pins.takeMoved(), state.pins.takeMissing { state.isToCome($0) })
        }
        for node in missing { try? volume.materialize(node) }
        for item in moved { followPins(below: NodeNumber(item, 0)) }
    }

    private func followPins(below node: NodeNumber) {
        let documents = (try? volume.documents(below: node)) ?? []
        for start in stride(from: 0, to: documents.count, by: Self.looked) {
            let part = documents[start..<min(start + Self.looked, documents.count)]
            let kept = volume.state.withLock { state in
                part.filter { document in
                    switch state.pin(of: document).pin {
                    case .keep: return true
                    case .onlineOnly: state.lastCloses.insert(document)
                    case .usual: state.quota.isDue = true
                    }
                    return false
                }
            }
            for document in kept { try? volume.materialize(document) }
        }
    }
}

extension VolumeState {
    /// The pin of the item, or of the nearest folder above that has one; and what has it, 0 if nothing.
    func pin(of node: NodeNumber) -> (pin: Volume.Pin, of: MemoryIndex.Position) {
        var position = index.find(node.item)
        while position != 0 {
            if index[item: position].pointee.flags.contains(.hasAttributes),
                let value = index.attributes[position]?[Volume.pinAttribute],
                let pin = Volume.Pin(rawValue: String(decoding: value, as: UTF8.self))
            {
                return (pin, position)
            }
            position = index.parent(of: position)
        }
        return (.usual, 0)
    }

    /// Whether the item's content is to stay here, and is to be had elsewhere.
    fileprivate func isToCome(_ node: NodeNumber) -> Bool {
        let position = index.find(node.item)
        return position != 0 && pin(of: node).pin == .keep
            && [.promised, .elsewhere].contains(index[item: position].pointee.place)
    }

    /// The pin that keeps the item here, and what to do about it; `nil` if there is none.
    func pinToKeep(_ node: NodeNumber) -> String? {
        let found = pin(of: node)
        guard found.pin == .keep else { return nil }
        if index[item: found.of].pointee.node.item == node.item {
            return "it is pinned: `shapeedit unpin` first"
        }
        let path = index.path(of: found.of) ?? []
        let folder = path.isEmpty ? "the whole container" : "its folder \(String(path: path))"
        return "\(folder) is pinned: `shapeedit unpin` that first"
    }
}
