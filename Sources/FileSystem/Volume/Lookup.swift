internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

extension Volume {
    /// What `name` leads to for this caller.
    ///
    /// - Parameter waited: whether the caller has waited for a closing session already.
    /// - Returns: the entry, counted as a lookup, or the item whose session is closing.
    func lookup(
        _ parent: NodeNumber, _ name: UnsafeRawBufferPointer, _ caller: Caller, waited: Bool
    ) throws(Errno) -> Answer<Entry> {
        if name.count > 255 { throw Errno(ENAMETOOLONG) }
        let answer = try read { (state) throws(Errno) -> Answer<(NodeNumber, Entry)> in
            let directory = try state.position(parent)
            if name.count <= 2, name[0] == UInt8(ascii: ".") {
                if name.count == 1 { return try state.entry(handle: parent, at: directory) }
                if name[1] == UInt8(ascii: ".") {
                    let above = state.index.parent(of: directory)
                    return state.entry(above == 0 ? directory : above, caller, waited: true)
                }
            }
            if !state.index[item: directory].pointee.isDirectory { throw Errno(ENOTDIR) }
            let found = state.index.lookup(directory, name)
            let position = found == 0 ? 0 : state.index[name: found].pointee.item
            if !state.redirections.isEmpty {
                follow(
                    state, caller, to: position, by: .name(parent: parent, name: Array(name)),
                    waited: waited)
            }
            if found == 0 {
                return .done(
                    (
                        NodeNumber(rawValue: 0),
                        Entry(node: 0, status: stat(), timeout: Entry.forever)
                    ))
            }
            return state.entry(position, caller, waited: waited)
        }
        switch answer {
        case .wait(let item): return .wait(item)
        case .done((let node, let entry)):
            // What is staged has its size in its file: ask that without holding the lock.
            if entry.attributeTimeout == Entry.brief || entry.attributeTimeout == Entry.never {
                var current: Entry
                do throws(Errno) { current = try attributes(node, for: caller) } catch {
                    forget(node, 1)
                    throw error
                }
                // The end of the session meanwhile does not make the answered name last.
                current.timeout = 0
                return .done(current)
            }
            return .done(entry)
        }
    }
}

/// The answer to a request that may have to wait until an item's session has ended.
enum Answer<Value> {
    case done(Value)
    case wait(ItemNumber)
}

extension VolumeState {
    /// The entry of an item for this caller, counted as a lookup: the session's node for those who
    /// write it, the current version's for all others.
    func entry(_ position: MemoryIndex.Position, _ caller: Caller, waited: Bool)
        -> Answer<(NodeNumber, Entry)>
    {
        let record = index[item: position]
        var node = record.pointee.node
        if record.pointee.flags.contains(.inSession), let session = sessions[position] {
            let now = MonotonicClock.now
            let process = CallerProcess.process(of: caller.thread)
            let concerns = session.concerns(process, now: now)
            // Whoever may have a mapping only waits as others do: mostly there is none, and it ends.
            if !waited, session.keepsWaiting(isWriter: concerns) {
                return .wait(ItemNumber(rawValue: record.pointee.number))
            }
            if concerns || session.isMapped(by: process) {
                node = session.node
                redirections[caller.thread]?.answered = node.rawValue
            }
        }
        if node == record.pointee.node { node = shownNode(position) }
        countLookup(node, at: position)
        noteTold(position, to: caller.thread)
        return .done((node, entry(of: node, at: position)))
    }

    /// Somebody is about to be told the attributes of an item, which may be a directory (``ToldFolders``).
    ///
    /// - Parameter thread: 0: one that is not known.
    @inline(__always)
    func noteTold(_ position: MemoryIndex.Position, to thread: Int32) {
        guard index[item: position].pointee.isDirectory else { return }
        toldFolders.note(number(position), to: thread, at: MonotonicClock.now)
    }

    /// The item, if a session of it is closing: whoever looks for its current version waits for that.
    func closing(_ position: MemoryIndex.Position) -> ItemNumber? {
        guard let session = sessions[position],
            session.keepsWaiting(isWriter: false)
        else { return nil }
        return number(position)
    }

    /// The entry of a file handle's node, which may be one of an earlier version.
    func entry(handle node: NodeNumber, at position: MemoryIndex.Position) throws(Errno)
        -> Answer<(NodeNumber, Entry)>
    {
        let known =
            session(of: node, at: position) != nil
            || index[item: position].pointee.node == node || oldNode(node) != nil
        if !known { throw Errno(ESTALE) }
        countLookup(node, at: position)
        noteTold(position, to: 0)
        return .done((node, entry(of: node, at: position)))
    }
}

/// How often the kernel was told of a node and has not given that back.
///
/// It asks for each use of a document's name while that is being written, which can be for weeks. A count
/// that is full stays so: the node is known until the unmount.
extension UInt32 {
    @inline(__always)
    mutating func countLookup() {
        if self < .max { self += 1 }
    }

    mutating func countForgotten(_ count: UInt64) {
        if self < .max { self -= UInt32(Swift.min(count, UInt64(self))) }
    }
}

extension Volume {
    /// The kernel gives back `count` lookups of `node`.
    func forget(_ node: NodeNumber, _ count: UInt64) {
        let gone = state.withLock { state -> Bool in
            let position = state.index.find(node.item)
            if position == 0 { return false }
            let record = state.index[item: position]
            var unknown = false
            var left: UInt32 = 0
            defer {
                if left == 0 {
                    state.changedOwners.remove(node.rawValue)
                    state.standIns[node.rawValue] = nil
                }
            }
            if let session = state.session(of: node, at: position) {
                session.lookups.countForgotten(count)
                left = session.lookups
                if session.lookups == 0, session.handles == 0 {
                    state.drop(session, at: position)
                    unknown = true
                }
            } else if record.pointee.node == node {
                record.pointee.lookups.countForgotten(count)
                left = record.pointee.lookups
            } else if var old = state.oldNode(node) {
                old.lookups.countForgotten(count)
                left = old.lookups
                if old.lookups == 0 {
                    state.dropOldNode(node, at: position)
                    unknown = true
                } else {
                    state.keepOldNode(node, old, at: position)
                }
            }
            if state.noteIfDead(position) { return true }
            if unknown, record.pointee.flags.contains(.inSession) == false {
                state.thinning.insert(DocumentID(rawValue: record.pointee.document))
            }
            return false
        }
        content.forget(node)
        if gone { keeper.wake() }
    }

    /// Names in a directory from `cursor` on. `body` takes the next name or refuses when its buffer
    /// is full; what it took is counted as looked up if `counted`.
    ///
    /// - Parameter body: given the name, NUL behind it, the cursor that stands on it, the entry.
    func list(
        _ directory: NodeNumber, from cursor: UInt64, _ caller: Caller, counted: Bool,
        _ body: (UnsafeRawBufferPointer, UInt64, Entry) -> Bool
    ) throws(Errno) {
        try read { (state) throws(Errno) in
            let position = try state.directory(directory)
            let index = state.index
            if counted { state.listings.note(directory.item.rawValue, MonotonicClock.now) }
            var name = index.child(of: position, after: cursor)
            while name != 0 {
                let item = index[name: name].pointee.item
                // During a session too: the version's node is right for all but the writer, who
                // asks again because the name is not kept.
                let node = index[item: item].pointee.node
                let isTold = counted && !state.isReplacedInLookups(item)
                if isTold { state.noteTold(item, to: caller.thread) }
                // Node 0: the kernel takes no more than the name, and looks it up.
                let entry =
                    isTold
                    ? state.entry(of: node, at: item)
                    : Entry(
                        node: counted ? 0 : node.rawValue, status: state.kind(of: item), timeout: 0)
                if !body(index.nameBytes(name), index.cursor(name), entry) { return }
                if isTold { state.countLookup(node, at: item) }
                name = index[name: name].pointee.next
            }
        }
    }

    /// The directory above, for `..` in a listing.
    func above(_ directory: NodeNumber) throws(Errno) -> ItemNumber {
        try read { (state) throws(Errno) in
            let position = try state.directory(directory)
            let above = state.index.parent(of: position)
            return state.number(above == 0 ? position : above)
        }
    }
}

extension VolumeState {
    /// Number and type only: what a plain listing needs.
    @inline(__always)
    func kind(of position: MemoryIndex.Position) -> stat {
        var status = stat()
        status.st_ino = UInt(index[item: position].pointee.number)
        status.st_mode = index[item: position].pointee.mode
        return status
    }
}
