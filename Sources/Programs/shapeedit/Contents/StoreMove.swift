import Catalog
import Content
import Coordination
import FileSystem
import Glibc
import Model
import PathText
import Pictures
import Stores
import SystemCalls

/// Takes a container that is not mounted from one store to another, or to none.
///
/// Everything the old store has, contents and their pictures, is put into the new one, got back from there
/// and compared before the container changes over; cut off anywhere, it still has the old one, and the
/// next attempt goes on. The old store is left as it is. What that has lost of earlier versions keeps nothing
/// else there: it stays a promise, and is told. A document that it has lost ends the move, and nothing changes.
struct StoreMove {
    private let container: Container
    private let old: (any ContentStore)?
    private let new: (any ContentStore)?
    private let address: String?

    /// - Parameter address: of the new store; `nil`: all contents come here.
    init(_ container: Container, to address: String?) throws(Failure) {
        self.container = container
        self.address = address
        old = try container.store.map { (store) throws(Failure) in try ContainerStore.open(store) }
        new = try address.map { (store) throws(Failure) in try ContainerStore.open(store) }
    }

    /// - Parameter json: how far it is, in lines of JSON.
    /// - Returns: why contents did not come that the old store has lost, a line for each version.
    func run(json: Bool) throws(Failure) -> [String] {
        let versions = try container.query { (database) throws(Failure) in
            var found: [VersionRow] = []
            try database.forEachVersion { version in
                if version.place == .stored || version.place == .promised { found.append(version) }
            }
            return found
        }
        let lost: [ContentHash: StoreError]
        do throws(Failure) {
            lost = try copy(versions, json)
            // Everything else is here: those versions count on nothing else any more.
            if new == nil {
                try record(
                    versions.filter { $0.hash.map { lost[$0] == nil } ?? true }, as: .sealed)
            }
        } catch {
            if new == nil { keepWhatCame(of: versions) }
            throw error
        }
        try container.setStore(address)
        return versions.compactMap { version in
            version.hash.flatMap { lost[$0] }.map { "\(name(of: version)): \($0)" }
        }.sorted()
    }

    /// A version for people.
    private func name(of version: VersionRow) -> String {
        let index = container.index
        let position = index.find(version.item)
        let path = position == 0 ? nil : index.path(of: position).map { String(path: $0) }
        let name = path ?? "document \(version.document.rawValue), which was removed"
        return "\(name), version \(version.ordinal)"
    }

    private func isCurrent(_ version: VersionRow) -> Bool {
        let position = container.index.find(version.item)
        return position != 0
            && container.index[item: position].pointee.node == version.node
    }

    /// Puts everything into the new store, or brings it here.
    ///
    /// - Returns: what the old store has lost.
    private func copy(_ versions: [VersionRow], _ json: Bool) throws(Failure)
        -> [ContentHash: StoreError]
    {
        let blobs = Set(
            versions.compactMap { version in
                version.hash.map { Blob(hash: $0, size: version.size) }
            })
        let current = Set(versions.filter(isCurrent).compactMap(\.hash))
        let pictures = new == nil ? [:] : pictures(of: versions)
        var isOldSilent = false
        var lost: [ContentHash: StoreError] = [:]
        let progress = Lock(
            TransferProgress(
                "contents", count: blobs.count, bytes: blobs.reduce(0) { $0 + $1.size },
                json: json))
        defer { progress.withLock { $0.end() } }
        for blob in blobs {
            progress.withLock { $0.show() }
            let isHere = isHere(blob)
            var isLost = false
            do throws(StoreError) { try bring(blob, progress) } catch {
                if current.contains(blob.hash) { throw ContainerStore.failure(error) }
                try believe(error)
                if try !isInNew(blob) { lost[blob.hash] = error }
                isLost = true
            }
            if !isLost { try move(blob, progress) }
            progress.withLock { $0.finish(blob.size) }
            if isHere, isOldSilent { continue }
            for picture in pictures[blob.hash] ?? [] {
                let bytes: [UInt8]?
                do throws(StoreError) { bytes = try old?.get(picture, StoreCall()) } catch {
                    // The old store may be gone for good, and of what is here they can be made again.
                    guard isHere else { throw ContainerStore.failure(error) }
                    isOldSilent = true
                    break
                }
                if let bytes { try put(picture, bytes) }
            }
        }
        progress.withLock { $0.show() }
        return lost
    }

    /// Throws if the trouble with a content is not that the old store has lost it, or has other bytes: a
    /// server that answers everything like that has to list what it has, so that it is known for the store.
    private func believe(_ error: StoreError) throws(Failure) {
        let failure = ContainerStore.failure(error)
        guard error.kind == .absent || error.kind == .corrupt else { throw failure }
        guard let old else { return }
        do throws(StoreError) {
            guard try !old.list(after: nil, limit: 1, StoreCall()).blobs.isEmpty else {
                let reason = "\(error.reason), nor anything else"
                throw StoreError(error.kind, at: error.address, reason)
            }
        } catch {
            throw ContainerStore.failure(error)
        }
    }

    /// Whether the new store has a content that the old one has lost, as one that was left before has.
    private func isInNew(_ blob: Blob) throws(Failure) -> Bool {
        guard let new else { return false }
        do throws(StoreError) {
            try new.get(blob, into: NoSink(), StoreCall())
            return true
        } catch {
            if error.kind == .absent || error.kind == .corrupt { return false }
            throw ContainerStore.failure(error)
        }
    }

    private func isHere(_ blob: Blob) -> Bool { container.content.hasBlob(blob.hash) }

    private func steps(_ isHere: Bool) -> Int64 { (isHere ? 0 : 1) + (new == nil ? 0 : 2) }

    /// Gets a content from the old store that is not here.
    private func bring(_ blob: Blob, _ progress: Lock<TransferProgress>) throws(StoreError) {
        if isHere(blob) { return }
        let path = container.content.folder.incoming(blob.hash)
        do throws(StoreError) {
            try fetch(blob, path, call(0, of: steps(false), blob, progress))
        } catch {
            unlink(path.cPath)
            throw error
        }
    }

    /// Keeps what is here, or has come, and puts it into the new store.
    private func move(_ blob: Blob, _ progress: Lock<TransferProgress>) throws(Failure) {
        let content = container.content
        let isHere = isHere(blob)
        let steps = steps(isHere)
        let path = isHere ? content.folder.blob(blob.hash) : content.folder.incoming(blob.hash)
        guard let new else {
            if isHere { return }
            do throws(Errno) { return try content.adopt(blob.hash) } catch {
                throw Failure(.inputOutput, "\(path): \(error)")
            }
        }
        do throws(StoreError) {
            try new.putCompared(
                blob, from: FileTransfer(try Self.open(path), name: path),
                call(steps - 2, of: steps, blob, progress),
                comparing: call(steps - 1, of: steps, blob, progress))
        } catch {
            if isHere, content.isDamaged(blob.hash, size: blob.size) {
                throw Failure(
                    .badData,
                    "\(path) is damaged: `shapeedit container check \(container.name)` tells what can be "
                        + "repaired")
            }
            throw ContainerStore.failure(error)
        }
        // What had to come only to go on is not kept.
        if !isHere { unlink(path.cPath) }
    }

    /// The call for one of the steps that a content takes: what goes over is a part of its way.
    private func call(
        _ step: Int64, of steps: Int64, _ blob: Blob, _ progress: Lock<TransferProgress>
    ) -> StoreCall {
        StoreCall { count in
            progress.withLock { $0.showSoon((step * blob.size + count) / steps) }
        }
    }

    /// What pictures there may be in the stores, by the contents: each type that a document is known by
    /// has its own.
    private func pictures(of versions: [VersionRow]) -> [ContentHash: Set<Companion>] {
        let index = container.index
        var types: [DocumentID: Set<PictureType>] = [:]
        for version in versions {
            let position = index.find(version.item)
            guard position != 0 else { continue }
            var name = index[item: position].pointee.firstName
            while name != 0 {
                types[version.document, default: []].insert(
                    PictureType(fileName: index.nameBytes(name)))
                name = index[name: name].pointee.nextOfItem
            }
        }
        var found: [ContentHash: Set<Companion>] = [:]
        for version in versions {
            guard let hash = version.hash else { continue }
            for type in types[version.document] ?? [] {
                if let picture = Companion(picturesOf: hash, type) {
                    found[hash, default: []].insert(picture)
                }
            }
        }
        return found
    }

    /// Takes a content's pictures along: where the content is not here nothing else could be shown of it.
    private func put(_ picture: Companion, _ bytes: [UInt8]) throws(Failure) {
        guard let new else { return }
        do throws(StoreError) {
            try new.put(picture, bytes, StoreCall())
            guard try new.get(picture, StoreCall()) == bytes else {
                throw StoreError(
                    .corrupt, at: new.address,
                    "the pictures of \(picture.hash) have been put, but come back as others")
            }
        } catch {
            throw ContainerStore.failure(error)
        }
    }

    private func fetch(_ blob: Blob, _ path: String, _ call: StoreCall) throws(StoreError) {
        guard let old else {
            throw StoreError(
                .absent, at: container.folder.path, "it was lost before, and there is no store")
        }
        // Blocks that came earlier are not trusted to be all.
        unlink((path + ContainerFolder.mapSuffix).cPath)
        let file: OwnedDescriptor
        do throws(Errno) {
            file = try OwnedDescriptor.openOwn(path, O_RDWR | O_TRUNC)
        } catch {
            throw StoreError(.local, at: path, "\(error)")
        }
        try old.get(blob, into: FileTransfer(file, name: path), call)
    }

    private static func open(_ path: String) throws(StoreError) -> OwnedDescriptor {
        do throws(Errno) { return try OwnedDescriptor.open(path, O_RDONLY) } catch {
            throw StoreError(.local, at: path, "\(error)")
        }
    }

    /// What had come when something failed stays, as what was opened does: a mount believes what is here of a
    /// promise if the container was closed, so it has to be on the disk; and it counts there.
    private func keepWhatCame(of versions: [VersionRow]) {
        let here = versions.filter { version in
            version.place == .promised
                && version.hash.map { container.content.hasBlob($0) } ?? false
        }
        if (try? record(here, as: .stored)) == nil { container.leaveUnfinished() }
    }

    /// Brings to the disk what is here, and notes where the versions are that have it.
    private func record(_ versions: [VersionRow], as place: ContentPlace) throws(Failure) {
        let time = Timestamp(WallClock.now)
        do throws(Errno) {
            try container.content.synchronize(until: time)
            for version in versions {
                var effects: [Effect] = [.placeVersion(version.item, version.ordinal, place)]
                let position = container.index.find(version.item)
                if position != 0, container.index[item: position].pointee.node == version.node {
                    container.index[item: position].pointee.place = place
                    effects.append(.putItem(container.index.row(position)))
                }
                container.log.append(
                    Mutation(
                        time: time, kind: .materialized, item: version.item, effects: effects))
            }
            try container.log.flush(upTo: container.log.head)
        } catch {
            throw Failure(.inputOutput, "\(container.folder.path): \(error)")
        }
    }
}
