internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// The attribute `user.shapeedit.apart`: for programs that put another content in a document's
/// place and have to be able to undo it.
extension Volume {
    /// The document's current version counts as a save of its own from now on, however soon it is
    /// replaced. Whoever may write the document may do this; the kernel has checked it.
    ///
    /// The mark is in the journal before this returns, and so before any change that replaces the
    /// version. Without such a change it says nothing.
    ///
    /// - Parameter value: `current`, or this throws EINVAL. EISDIR for a folder.
    func keepApart(_ node: NodeNumber, _ value: String, _ caller: Caller) throws(Errno) {
        if value != "current" { throw Errno(EINVAL) }
        try change { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)].pointee
            guard record.isRegular else { throw Errno(record.isDirectory ? EISDIR : EPERM) }
            // Nothing was published yet.
            if record.ordinal == 0 { return ((), state.log.head) }
            let mutation = Mutation(
                time: VolumeState.now(), kind: .keptApart, item: node.item,
                process: CallerProcess.process(of: caller.thread),
                effects: [.keepApart(node.item, record.ordinal)])
            return ((), state.log.append(mutation))
        }
    }
}
