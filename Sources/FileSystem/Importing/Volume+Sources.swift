internal import Catalog
internal import Content
internal import Glibc
package import Logging
internal import Model
internal import Promises
package import Stores
internal import SystemCalls

/// Contents of the trees that were imported: how they come and become the container's own. See the page
/// Promises.
extension Volume {
    /// Lets imported documents be opened; before the first request.
    package func connectSources(_ settings: StoreSettings, logger: Logger) {
        let contents = ForeignContents(settings: settings) {
            [weak self] name throws(StoreError) in try self?.place(of: name)
        }
        var store: any ContentStore = contents
        store = Retrying(Logged(store, logger), settings.retries)
        let downloads = Downloads(
            .foreign, content: content, store: store, patience: settings.retries.total,
            logger: logger,
            place: { name in
                contents.source(of: name).map {
                    Downloads.Place(address: $0.address, gaveAt: $0.gaveAt)
                }
            },
            adopt: { [weak self] (blob, nodes) throws(Errno) in
                try self?.adoptForeign(blob, for: nodes)
            },
            came: { [weak self] nodes in self?.reasons.forget(nodes) },
            failed: { [weak self] nodes, problem in
                for node in nodes { self?.reasons.note(problem.reason, for: node) }
            })
        let known: Int? = try? container.query { (database) throws(Failure) in
            try database.sources().count
        }
        sources = SourceLink(downloads, count: known ?? 1)
    }

    /// Where the content that is called so is now.
    private func place(of name: ContentHash) throws(StoreError) -> ForeignContents.Place? {
        do throws(Failure) {
            return try container.query { (database) throws(Failure) in
                guard let place = try database.place(content: name) else { return nil }
                return ForeignContents.Place(tree: place.tree, path: place.path, tag: place.tag)
            }
        } catch {
            throw StoreError(.local, at: container.folder.catalog, error.message)
        }
    }

    /// A foreign content is here, whole: it gets its hash and becomes a blob of ours. On a download's
    /// thread; waits for the disk.
    private func adoptForeign(_ blob: Blob, for nodes: Set<NodeNumber>) throws(Errno) {
        let file = try OwnedDescriptor.open(content.folder.incoming(blob.hash), O_RDONLY)
        let (count, digest) = try Hashing.sha256(of: file, size: blob.size)
        guard count == blob.size, let hash = ContentHash(bytes: digest) else { throw Errno(EIO) }
        try file.synchronizeData()
        guard let sources else { throw Errno(EIO) }
        let sealed = try sources.origins.withLock { (_) throws(Errno) in
            try seal(blob, as: hash)
        }
        link?.upload(sealed)
        state.withLock { $0.sealing -= sealed.count }
        noteArrival(blob.size)
        reasons.forget(nodes)
        refresh(Array(nodes)) {}
    }

    /// Takes what has come among the blobs; the versions that have it. With ``SourceLink/origins``
    /// held.
    private func seal(_ blob: Blob, as hash: ContentHash) throws(Errno) -> [VersionRow] {
        try blobs.withLock { (_) throws(Errno) in
            let known: ([VersionRow], [OriginRow])? = try? container.query {
                (database) throws(Failure) in
                (
                    try database.versions(content: blob.hash),
                    try database.origins(content: blob.hash)
                )
            }
            guard let (versions, origins) = known else { throw Errno(EIO) }
            // A blob that nothing refers to is no harm; a version without its blob would be.
            try content.adopt(blob.hash, as: hash)
            return state.withLock { state -> [VersionRow] in
                let ours = versions.filter { $0.place == .elsewhere }
                state.beginSealing(ours.count)
                return ours.map { version in
                    var version = version
                    version.place = .sealed
                    version.hash = hash
                    var effects: [Effect] = [.putVersion(version)]
                    if var origin = origins.first(where: { $0.item == version.item }) {
                        origin.content = hash
                        effects.append(.putOrigin(origin))
                    }
                    state.settle(version, effects)
                    return version
                }
            }
        }
    }
}

extension VolumeState {
    /// Notes and records that a version's bytes have come.
    fileprivate func settle(_ version: VersionRow, _ effects: [Effect]) {
        let position = index.find(version.item)
        let time = Self.now()
        if position != 0 {
            notePlace(version.place, version.hash, of: version.node, at: position)
        }
        if position != 0, index[item: position].pointee.node == version.node {
            record(.materialized, position, at: time, effects)
        } else {
            log.append(
                Mutation(time: time, kind: .materialized, item: version.item, effects: effects))
        }
    }
}
