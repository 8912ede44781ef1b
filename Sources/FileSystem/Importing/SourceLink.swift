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
    /// Messages of imports to folders that were carried out, or are being, and that the kernel has not heard
    /// of yet.
    private let untold = Lock<[ItemNumber: Int]>([:])

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

    /// A message to a folder is about to be carried out; ``endTelling(_:)`` has to follow.
    func beginTelling(_ root: ItemNumber) { untold.withLock { $0[root, default: 0] += 1 } }

    /// The kernel has forgotten what was otherwise before the message.
    func endTelling(_ root: ItemNumber) {
        untold.withLock { untold in
            let left = untold[root, default: 1] - 1
            untold[root] = left > 0 ? left : nil
        }
    }

    /// Whether who looks at a name now finds what all messages before have made of it.
    func isTold(_ root: ItemNumber) -> Bool { untold.withLock { $0[root] == nil } }
}
