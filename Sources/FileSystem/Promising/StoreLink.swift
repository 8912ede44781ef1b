internal import Content
internal import Logging
internal import Model
internal import Promises
internal import Stores
internal import SystemCalls

/// What connects a mounted container with its store.
final class StoreLink: Sendable {
    /// Where the store is, for people.
    let address: String
    let ownership: StoreOwnership
    let downloads: Downloads
    let uploads: Uploads
    let pictures: StoredPictures
    let cleaning: StoreCleaning
    let logger: Logger

    init(
        address: String, ownership: StoreOwnership, downloads: Downloads, uploads: Uploads,
        pictures: StoredPictures, cleaning: StoreCleaning, logger: Logger
    ) {
        self.address = address
        self.ownership = ownership
        self.downloads = downloads
        self.uploads = uploads
        self.pictures = pictures
        self.cleaning = cleaning
        self.logger = logger
    }

    /// Queues current versions that have been sealed.
    func upload(_ versions: [VersionRow]) {
        uploads.add(
            versions.compactMap { version in
                guard let hash = version.hash, version.place == .sealed else { return nil }
                return Uploads.Job(
                    node: version.node, blob: Blob(hash: hash, size: version.size))
            })
    }

    func stop() {
        cleaning.stop()
        uploads.stop()
        downloads.stop()
        pictures.stop()
    }
}
