import DocumentKit
import SystemCalls
import Testing

/// Keeps what it was told, and saves when asked to.
final class Shows: FilePresenter {
    struct Told {
        var words: [String] = []
        var save: (@Sendable () -> Void)?
    }
    let told = Monitor(Told())
    /// How often it lost versions, of which nobody knows when they go.
    let losses = Monitor(0)

    func add(_ word: String) { told.signal { $0.words.append(word) } }
    func relinquish(to guest: FileGuest) { add("relinquish \(guest)") }
    func saveChanges() {
        add("save")
        told.withLock { $0.save }?()
    }
    func accommodateDeletion(of path: String) { add("deletion \(Self.name(path))") }
    func resume() { add("resume") }
    func itemChanged() { add("changed") }
    func itemMoved(to path: String) { add("moved \(Self.name(path))") }
    func itemDeleted() { add("deleted") }
    func versionGained() { add("version") }
    func versionLost() { losses.signal { $0 += 1 } }
    func versionConflict() { add("conflict") }
    func presentationEnded() { add("ended") }
    func subitemChanged(_ change: SubitemChange) {
        switch change {
        case .appeared(let path): add("appeared \(Self.name(path))")
        case .changed(let path): add("changed \(Self.name(path))")
        case .moved(let path, let target):
            add("moved \(Self.name(path)) \(Self.name(target))")
        case .deleted(let path): add("deleted \(Self.name(path))")
        }
    }

    static func name(_ path: String) -> Substring {
        // A slash with a combining mark behind it is no `Character` of its own.
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] }
            ?? path[...]
    }

    /// Waits until it was told these, in this order and nothing else, and forgets them.
    func expect(_ words: String..., at location: SourceLocation = #_sourceLocation) {
        let found = told.wait(until: MonotonicClock.after(milliseconds: 30_000)) { state in
            state.words.count >= words.count ? state.words : nil
        }
        #expect(found == words, sourceLocation: location)
        told.withLock { $0.words = [] }
    }
}
