internal import Model
internal import Promises
internal import Synchronization
internal import SystemCalls

/// What connects a mounted container with the trees that were imported to it.
final class SourceLink: Sendable {
    let downloads: Downloads
    /// Held while it is decided which object of the source an item is, or what its content is
    /// called: from the look at the catalog to what is made of it.
    let origins = Lock(())
    private let hasSources: Atomic<Bool>
    /// Imports that are going on, by the folder they go to.
    private let passes = Lock<[ItemNumber: ImportPass]>([:])

    /// - Parameter isInUse: whether anything was ever imported.
    init(_ downloads: Downloads, isInUse: Bool) {
        self.downloads = downloads
        hasSources = Atomic(isInUse)
    }

    /// Whether there can be contents that are elsewhere; cheap.
    var isInUse: Bool { hasSources.load(ordering: .relaxed) }

    /// Begins an import to a folder; one that was going on there is over.
    func begin(_ pass: ImportPass) {
        hasSources.store(true, ordering: .relaxed)
        passes.withLock { $0[pass.root] = pass }
    }

    /// The import to a folder that is going on, or the last one.
    func pass(_ root: ItemNumber) -> ImportPass? { passes.withLock { $0[root] } }
}
