internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import Promises
internal import SystemCalls

/// What `user.shapeedit.*` tells of a content's place, and what writing it does.
extension Volume {
    /// `nil` if the attribute is not about that, or the item has none.
    func storeAttribute(_ node: NodeNumber, _ key: String) throws(Errno) -> String? {
        switch key {
        case "state": return try contentState(node)
        case "progress": return try progress(node).map { String($0.percent) }
        case "progress.bytes": return try progress(node).map { String($0.bytes) }
        case "source": return try sourceAddress(node.item)
        case "import": return importReport(node)
        case "error":
            if let reason = reasons[currentNode(node)] { return reason.text }
            let state = try contentState(node)
            // It waits behind another that the store did not take.
            if state == "dirty", let problem = link?.uploads.problem {
                return "it is not in the store yet: \(problem)"
            }
            if state == "promise", isWithoutStore(node) {
                return "the container has no store, and its last one had lost this content"
            }
            return isDamaged(node)
                ? "its content is missing, or not as long as it was; unmount, and "
                    + "`shapeedit container check \(container.name)` tells more" : nil
        case "error.kind": return reasons[currentNode(node)]?.kind?.rawValue
        case "pin":
            return try read { (state) throws(Errno) in
                let value = state.index.attributes[try state.position(node)]?[Self.pinAttribute]
                return value.map { String(decoding: $0, as: UTF8.self) } ?? Pin.usual.rawValue
            }
        default: return nil
        }
    }

    /// How much of a content is here; `nil` of what is no file. 100 percent is what is local, and not the last
    /// byte that has come.
    private func progress(_ node: NodeNumber) throws(Errno) -> (percent: Int64, bytes: Int64)? {
        switch try contentState(node) {
        case nil: return nil
        case "promise": return (0, 0)
        case "downloading":
            guard let missing = missing(node) else { fallthrough }
            let (size, received) = (missing.blob.size, missing.received ?? 0)
            return (size == 0 ? 100 : min(received * 100 / size, 99), received)
        default: return (100, Int64(try attributes(node).status.st_size))
        }
    }

    /// promise, downloading, local, or dirty: has what is nowhere but here.
    private func contentState(_ node: NodeNumber) throws(Errno) -> String? {
        let found = try read { (state) throws(Errno) -> (String?, ContentReference?) in
            let position = try state.position(node)
            let record = state.index[item: position]
            guard record.pointee.isRegular else { return (nil, nil) }
            // Who has opened it for writing may be waiting for its content.
            if record.pointee.flags.contains(.inSession),
                state.sessions[position]?.isStaged != false
            {
                return ("dirty", nil)
            }
            switch record.pointee.place {
            case .none, .stored: return ("local", nil)
            case .staged, .durable, .sealed: return (link == nil ? "local" : "dirty", nil)
            case .promised, .elsewhere: return (nil, state.content(position))
            }
        }
        guard let content = found.1 else { return found.0 }
        // Only looked at: who asks must not keep what is just being let go.
        if content.place == .promised, let hash = content.hash, self.content.hasBlob(hash) {
            return isHereForOthers(content.node, hash) ? "promise" : "local"
        }
        guard let missing = missing(content.node) else {
            return isWithoutStore(content.node) ? "promise" : "local"
        }
        // The last byte is not the end: a content is local when it has been verified and adopted.
        return missing.received == nil ? "promise" : "downloading"
    }

    /// Whether the current content cannot be read because somebody took or cut off its file.
    private func isDamaged(_ node: NodeNumber) -> Bool {
        let current = state.withLock { state in
            let position = state.index.find(node.item)
            return position == 0 ? nil : state.content(position)
        }
        return current.map(content.isDamaged) ?? false
    }

    /// Whether the content is a promise that only a store could keep, and there is none.
    private func isWithoutStore(_ node: NodeNumber) -> Bool {
        guard link == nil else { return false }
        return state.withLock { state in
            let position = state.index.find(node.item)
            return position != 0 && state.index[item: position].pointee.place == .promised
        }
    }

    /// Writing `state` brings the content or lets it go; writing `pin` says where it should be.
    /// Only by the owner or root, as chmod. Returns nodes whose attributes are stale then.
    func setStoreAttribute(_ node: NodeNumber, _ key: String, _ value: String, _ caller: Caller)
        throws(Errno) -> [NodeNumber]
    {
        guard key == "state" || key == "pin" else { throw Errno(EPERM) }
        let (isOwner, isRegular) = try read { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)]
            return (
                caller.user == 0 || caller.user == record.pointee.user, record.pointee.isRegular
            )
        }
        guard isOwner else { throw Errno(EPERM) }
        guard mayMiss else { throw Errno(ENOTSUP) }
        // A folder's pin holds for all that is in it; that its contents come or go would be believed, too.
        guard isRegular || key == "pin" else { throw Errno(EISDIR) }
        switch (key, value) {
        case ("state", "promise"):
            link?.ownership.waitUntilKnown()
            try evict(node)
        case ("state", "local"): try materialize(node)
        case ("state", "cancel"): try cancel(node)
        case ("pin", _):
            guard let pin = Pin(rawValue: value) else { throw Errno(EINVAL) }
            var stale: [NodeNumber] = []
            if pin == .usual {
                do throws(Errno) { stale = try letGo(node, Self.pinAttribute, caller) } catch {
                    if error.code != ENODATA { throw error }
                }
            } else {
                stale = try keep(node, Self.pinAttribute, Array(value.utf8), caller)
            }
            try act(on: pin, below: node)
            return stale
        default: throw Errno(EINVAL)
        }
        return []
    }
}
