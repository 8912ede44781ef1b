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
    let downloads: Downloads
    let uploads: Uploads
    let pictures: StoredPictures
    /// Why the content of a node did not come, or was not let go.
    private let problems = Lock<[NodeNumber: String]>([:])
    /// Problems that are remembered.
    private static let mostProblems = 10_000

    init(address: String, downloads: Downloads, uploads: Uploads, pictures: StoredPictures) {
        self.address = address
        self.downloads = downloads
        self.uploads = uploads
        self.pictures = pictures
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

    func problem(_ node: NodeNumber) -> String? { problems.withLock { $0[node] } }

    /// Remembers why nothing came of what was asked for; `nil`: something did.
    func note(_ problem: String?, for node: NodeNumber) {
        problems.withLock { problems in
            if problem != nil, problems.count >= Self.mostProblems { problems = [:] }
            problems[node] = problem
        }
    }

    func stop() {
        uploads.stop()
        downloads.stop()
        pictures.stop()
    }
}
