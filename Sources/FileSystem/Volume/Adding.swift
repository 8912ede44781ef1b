internal import Content
internal import Glibc
internal import Model
package import SystemCalls

extension Volume {
    /// Writes a new document from inside the program, as an ordinary writer would; for a volume that
    /// is not mounted yet. One that is there stays as it is, unless it is empty: its writing was cut off.
    ///
    /// - Parameter folder: a directory of the root, made if it is missing; empty for the root.
    package func add(_ name: String, in folder: String, _ bytes: [UInt8]) throws(Errno) {
        let caller = Caller(user: geteuid(), group: getegid(), thread: getpid())
        var parent = NodeNumber(.root, 0)
        if !folder.isEmpty {
            let path = Kept(Array(folder.utf8))
            defer { withExtendedLifetime(path) {} }
            let found = try read { (state) throws(Errno) -> NodeNumber? in
                let position = state.index.lookup(try state.position(parent), path.bytes)
                guard position != 0 else { return nil }
                return state.index[item: state.index[name: position].pointee.item].pointee.node
            }
            if let found {
                parent = found
            } else {
                let made = try make(
                    parent, path.bytes, Blueprint(mode: S_IFDIR | 0o755), caller)
                parent = NodeNumber(rawValue: made.node)
            }
        }
        let kept = Kept(Array(name.utf8))
        defer { withExtendedLifetime(kept) {} }
        let size = try read { (state) throws(Errno) -> Int64? in
            let found = state.index.lookup(try state.position(parent), kept.bytes)
            guard found != 0 else { return nil }
            return state.index[item: state.index[name: found].pointee.item].pointee.size
        }
        if let size {
            if size > 0 { return }
            _ = try unlink(parent, kept.bytes, caller)
        }
        let (entry, opened) = try create(
            parent, kept.bytes, mode: 0o644, flags: O_WRONLY, caller)
        let node = NodeNumber(rawValue: entry.node)
        defer {
            release(node, opened.handle)
            // The kernel does not know it.
            forget(node, 1)
        }
        let (file, session) = try writable(node, opened.handle)
        try file.with { (file) throws(Errno) in
            try file.write(bytes, at: 0)
        }
        wrote(session, opened.handle, by: caller.user) {}
        try flush(node, opened.handle, owner: 0, by: caller.thread) {}
    }
}
