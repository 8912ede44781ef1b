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
            adopt: { [weak self] contents in
                self?.adoptForeign(contents) ?? contents.map { _ in .success(()) }
            },
            came: { [weak self] nodes in self?.reasons.forget(nodes) },
            failed: { [weak self] nodes, problem in
                for node in nodes { self?.reasons.note(problem, for: node) }
                if problem.mayPass { self?.noteMissing(nodes) }
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

    /// Foreign contents are here, whole: they get their hashes and become blobs of ours. On a download's
    /// thread; waits for the disk.
    private func adoptForeign(_ contents: [Downloads.Whole]) -> [Result<Void, Errno>] {
        let hashes = contents.map { whole in
            Result { () throws(Errno) in try durableHash(of: whole.blob) }
        }
        guard let sources else { return contents.map { _ in .failure(Errno(EIO)) } }
        let sealed = sources.origins.withLock { _ in seal(contents.map(\.blob), as: hashes) }
        return zip(contents, sealed).map { whole, sealed in
            sealed.map { versions in
                link?.upload(versions)
                state.withLock { $0.sealing -= versions.count }
                noteArrival(whole.blob.size)
                reasons.forget(whole.nodes)
                refresh(Array(whole.nodes)) {}
            }
        }
    }

    /// The hash of what has come, which is on the disk then.
    private func durableHash(of blob: Blob) throws(Errno) -> ContentHash {
        let file = try OwnedDescriptor.open(content.folder.incoming(blob.hash), O_RDONLY)
        let (count, digest) = try Hashing.sha256(of: file, size: blob.size)
        guard count == blob.size, let hash = ContentHash(bytes: digest) else { throw Errno(EIO) }
        try file.synchronizeData()
        return hash
    }

    /// Takes what has come among the blobs; the versions that have it. With ``SourceLink/origins``
    /// held.
    private func seal(_ blobs: [Blob], as hashes: [Result<ContentHash, Errno>])
        -> [Result<[VersionRow], Errno>]
    {
        self.blobs.withLock { _ in
            // Of all at once: SQLite takes everything in first that was recorded.
            let known: [(versions: [VersionRow], origins: [OriginRow])]? = try? container.query {
                (database) throws(Failure) in
                var known: [(versions: [VersionRow], origins: [OriginRow])] = []
                for blob in blobs {
                    known.append(
                        (
                            try database.versions(content: blob.hash),
                            try database.origins(content: blob.hash)
                        ))
                }
                return known
            }
            guard let known else { return blobs.map { _ in .failure(Errno(EIO)) } }
            return blobs.indices.map { index in
                Result { () throws(Errno) in
                    let hash = try hashes[index].get()
                    // A blob that nothing refers to is no harm; a version without its blob would be.
                    try content.adopt(blobs[index].hash, as: hash)
                    return settle(known[index].versions, known[index].origins, as: hash)
                }
            }
        }
    }

    /// Notes and records that the bytes of versions have come; those that they had not come for.
    private func settle(_ versions: [VersionRow], _ origins: [OriginRow], as hash: ContentHash)
        -> [VersionRow]
    {
        state.withLock { state in
            state.pins.hasCome(versions.map(\.node))
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
