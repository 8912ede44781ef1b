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
    /// Trees that were imported.
    private let count: Atomic<Int>
    /// Imports that are going on, by the folder they go to.
    private let passes = Lock<[ItemNumber: ImportPass]>([:])
    /// Messages of imports that were carried out, or are being, and that the kernel has not heard of yet.
    private let untold = Atomic<Int>(0)

    /// - Parameter count: of the trees that were imported so far.
    init(_ downloads: Downloads, count: Int) {
        self.downloads = downloads
        self.count = Atomic(count)
        downloads.serve(places: count)
    }

    /// Whether there can be contents that are elsewhere; cheap.
    var isInUse: Bool { count.load(ordering: .relaxed) > 0 }

    /// Begins an import to a folder; one that was going on there is over.
    func begin(_ pass: ImportPass) {
        if pass.isFirst {
            downloads.serve(places: count.add(1, ordering: .relaxed).newValue)
        }
        passes.withLock { $0[pass.root] = pass }
    }

    /// The import to a folder that is going on, or the last one.
    func pass(_ root: ItemNumber) -> ImportPass? { passes.withLock { $0[root] } }

    /// A message is about to be carried out; ``endTelling()`` has to follow.
    func beginTelling() { untold.add(1, ordering: .relaxed) }

    /// The kernel has forgotten what was otherwise before the message.
    func endTelling() { untold.subtract(1, ordering: .releasing) }

    /// Whether who looks at a name now finds what all messages before have made of it.
    var isTold: Bool { untold.load(ordering: .acquiring) == 0 }
}
