internal import Glibc
internal import Model
internal import SystemCalls

extension FuseSession {
    /// Carries out a message of an import and answers EINPROGRESS: a success would have the kernel tell all
    /// who watch the folder that its attributes have changed, with each message.
    func takeImport(_ request: Request, _ node: NodeNumber, _ message: [UInt8]) {
        let volume = self.volume
        let replayer = volume.replayer
        let change = replayer?.announce() ?? 0
        let sources = volume.sources
        sources?.beginTelling(node.item)
        var stale = Volume.Stale()
        var answer = Errno(EINPROGRESS)
        do throws(Errno) {
            try volume.takeImport(node, message, request.caller, &stale)
        } catch {
            answer = error
        }
        replayer?.expect(stale.steps)
        request.fail(answer)
        if stale.nodes.isEmpty, stale.names.isEmpty, stale.steps.isEmpty {
            replayer?.add([], announced: change)
            sources?.endTelling(node.item)
            return
        }
        // Only now: the kernel holds the folder's lock while the request lasts, and needs it to forget
        // a name in it. Names that nothing led to are among what it has to forget.
        volume.notifier.post { [stale] in
            for node in stale.nodes {
                volume.channel?.invalidate(node: node.rawValue, pages: true)
                volume.tellings.add(1, ordering: .relaxed)
            }
            // Pictures first: no new content is to be seen with the picture of the one before.
            volume.settlePictures {
                volume.forget(stale) {
                    replayer?.add(stale.steps, announced: change)
                    sources?.endTelling(node.item)
                }
            }
        }
    }
}
