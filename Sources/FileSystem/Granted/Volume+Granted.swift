package import Coordination
internal import Model
internal import PathText
internal import SystemCalls

/// What an app's mount shows besides its own container, to those who know the volume alone.
extension Volume {
    /// Whether the container has something of this name at its root.
    func hasAtRoot(_ name: String) -> Bool {
        state.withLock { state in
            name.pathBytes.withUnsafeBytes {
                state.index.lookup(state.index.find(.root), $0) != 0
            }
        }
    }

    /// The owner whose folder the name at the root is, as far as can be seen without asking it.
    func grantedOwner(_ name: UnsafeRawBufferPointer) -> String? {
        guard let owner = GrantedTree.owner(name),
            GrantedTree.folderName(owner, hasAtRoot) == String(path: name)
        else { return nil }
        return owner
    }

    /// The other container that has what is at a path in the mount of an app, or would have it; `nil`
    /// for what is the app's own. Asks no other mount.
    package func grantedOwner(at path: ClaimPath) -> String? {
        guard let grantedResults, let first = path.names.first,
            let owner = first.withUnsafeBytes({ grantedOwner($0) }), grantedResults.isOwner(owner)
        else { return nil }
        return owner
    }

    /// Has a presenter told of documents of other containers, too, in the mount of an app.
    package func follow(_ presenter: PresenterID, at path: ClaimPath) {
        grantedResults?.present(presenter, at: path)
    }

    /// Nobody listens to the presenter any more.
    package func dismiss(_ presenter: PresenterID) {
        coordinator.dismiss(presenter)
        grantedResults?.dismiss(presenter)
    }

    /// Runs `then` when the owners have said what the query finds of what they grant to this app,
    /// or do not say it; at once in a mount that is no app's. Nobody waits; on any thread.
    func whenAsked(_ query: Query, _ then: @escaping @Sendable () -> Void) {
        guard let grantedResults else { return then() }
        grantedResults.ask(query, then)
    }
}
