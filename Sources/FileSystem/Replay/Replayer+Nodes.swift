internal import Catalog
internal import Model
internal import SystemCalls
internal import Thumbnailing

/// What is told about a node to those who watch that. On the replayer's thread.
extension Replayer {
    /// Tells who watches a node what happened to its item.
    func tell(_ change: NodeChange, _ worker: WorkerProcess) -> Bool {
        let node = change.node
        let name = Array(String(node.rawValue).utf8)
        let path = VirtualTree.formerFolder.utf8 + name
        guard let (call, isGone) = call(for: change, path) else { return true }
        state.withLock { $0.former = node }
        let answer = ask(call, worker)
        let folder = state.withLock { state in
            state.former = nil
            return state.formerFolder
        }
        // Or the kernel would keep the node for the sake of this name.
        var left = name
        if case .rename = call, answer == 0 { left += ReplayCall.movedSuffix }
        volume.nameNotifier.post { [volume, left] in
            if isGone {
                volume.channel?.announceDeletion(parent: folder, node: node.rawValue, name: left)
            } else {
                volume.channel?.invalidateEntry(parent: folder, name: left)
            }
        }
        return answer != nil
    }

    /// What tells of a change of a node by that path, and whether its item is gone; nil for nothing.
    private func call(for change: NodeChange, _ path: [UInt8]) -> (ReplayCall, isGone: Bool)? {
        guard change.kind == .content else {
            return call(forNameOrAttributes: change, path).map { ($0, false) }
        }
        return former(change.node).map {
            ($0.isGone ? .touch(path) : .change(path, size: $0.size), $0.isGone)
        }
    }

    private func call(forNameOrAttributes change: NodeChange, _ path: [UInt8]) -> ReplayCall? {
        volume.state.withLock { state in
            let position = state.index.find(change.node.item)
            // Who lost the document is told of that.
            guard position != 0, state.index[item: position].pointee.links > 0 else { return nil }
            switch change.kind {
            case .name: return .rename(path, to: path + ReplayCall.movedSuffix)
            case .attributesByWriter: return .set(path)
            case .attributes, .content: return .touch(path)
            }
        }
    }

    /// The size of a former node, and whether its item is gone; nil if the kernel does not know it.
    private func former(_ node: NodeNumber) -> (size: Int64, isGone: Bool)? {
        if GrantedTree.has(node.rawValue) {
            return volume.grantedResults?.replay?.former(node.rawValue)
        }
        return volume.state.withLock { state in
            let position = state.index.find(node.item)
            guard position != 0, let old = state.oldNode(node) else { return nil }
            return (old.content.size, state.index[item: position].pointee.links == 0)
        }
    }
}
