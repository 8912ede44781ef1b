internal import Catalog
internal import Model
internal import Promises
internal import Stores

/// What the store had and has lost: as long as it is here, nothing is.
extension Volume {
    /// Contents asked of the catalog at a time.
    private static let portion = 1_000

    /// Contents that are here and count as stored, the next ones after a hash; `nil` if the catalog does not answer.
    func storedContents(after hash: ContentHash?) -> [Blob]? {
        try? container.query { (database) throws(Failure) in
            try database.storedContents(after: hash, limit: Self.portion).map {
                Blob(hash: $0.hash, size: $0.size)
            }
        }
    }

    /// It has been found out whether what counts as stored has to be looked for there before it can go.
    func noteStoreDoubt(isUncompared: Bool) {
        let isOver = state.withLock { state in
            let isOver = state.storeDoubt != nil && !isUncompared
            state.storeDoubt = isUncompared ? .isUncompared : nil
            if isOver { state.quota.isDue = true }
            return isOver
        }
        if isOver { keeper.wake() }
        link?.uploads.goOn(after: Self.otherContainer)
    }

    /// The store does not have a content that counts as stored: what is here has to stay, and goes there
    /// again if it is current.
    func putAgain(_ blob: Blob) {
        // Under the lock of removals: what is let go meanwhile sees that it is needed.
        let current = blobs.withLock { _ -> [NodeNumber] in
            guard content.hasBlob(blob.hash) else { return [] }
            let versions: [VersionRow]? = try? container.query { (database) throws(Failure) in
                try database.versions(content: blob.hash)
            }
            return state.withLock { state in
                var current: [NodeNumber] = []
                for version in versions ?? [] {
                    let node = version.node
                    let position = state.index.find(node.item)
                    let isCurrent =
                        position != 0 && state.index[item: position].pointee.node == node
                    // The catalog may be behind.
                    let place =
                        isCurrent ? state.index[item: position].pointee.place : version.place
                    // What is current and was let go a moment ago still has its bytes here: the last ones.
                    guard place == .stored || isCurrent && place == .promised else { continue }
                    state.place(node, .sealed, blob.hash, .repaired)
                    if isCurrent { current.append(node) }
                }
                return current
            }
        }
        log.announce()
        link?.uploads.add(current.map { Uploads.Job(node: $0, blob: blob) })
    }
}
