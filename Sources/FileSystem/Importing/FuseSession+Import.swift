internal import Glibc
internal import Model
internal import SystemCalls

extension FuseSession {
    /// Carries out a message of an import and answers EINPROGRESS: a success would have the kernel tell all
    /// who watch the folder that its attributes have changed, with each message.
    func takeImport(_ request: Request, _ node: NodeNumber, _ message: [UInt8]) throws(Errno) {
        let volume = self.volume
        let replayer = volume.replayer
        let change = replayer?.announce() ?? 0
        let stale: Volume.Stale
        do throws(Errno) { stale = try volume.takeImport(node, message, request.caller) } catch {
            replayer?.add([], announced: change)
            throw error
        }
        replayer?.expect(stale.steps)
        request.fail(Errno(EINPROGRESS))
        // Only now: the kernel holds the folder's lock while the request lasts, and needs it to forget
        // a name in it. Names that nothing led to are among what it has to forget.
        volume.notifier.post {
            for node in stale.nodes { volume.channel?.invalidate(node: node.rawValue, pages: true) }
            // Pictures first: no new content is to be seen with the picture of the one before.
            volume.settlePictures {
                volume.forget(names: stale.names) { replayer?.add(stale.steps, announced: change) }
            }
        }
    }
}
