import Browser
import DocumentKit
import Model
import PathText
import SystemCalls

/// Asks the mount for the titles of documents, on a thread of its own: an answer waits a moment until
/// what was saved last has been read. Outside a mount nothing is known of titles.
final class BrowserTitles: Sendable {
    private struct State {
        var isWanted = false
        /// What was there when they were asked for, and when that was.
        var versions: Set<BrowserVersion> = []
        var items: [PathKey: UInt64] = [:]
        var asked: UInt64 = 0
    }
    /// Other titles may come without other versions, with the contents of promises: after so long they
    /// are asked for again, in nanoseconds.
    private static let pace: UInt64 = 30_000_000_000

    /// Documents with titles of their own; the first line of any other text is less than its name.
    private static let types = ["shape", "shapefile", "slide", "list", "md", "markdown", "mkd"]

    private let state = Monitor(State())

    init(_ tree: BrowsedTree, _ inbox: EventInbox<BrowserEvent>) {
        guard let point = tree.mountPoint else { return }
        let state = state
        Threads.start("titles") {
            while true {
                let items = state.wait { state -> [PathKey: UInt64]? in
                    guard state.isWanted else { return nil }
                    state.isWanted = false
                    return state.items
                }
                if let titles = Self.titles(tree, point, items ?? [:]) {
                    inbox.put(.titled(titles))
                }
            }
        }
    }

    /// These documents are there now.
    func follow(_ entries: [BrowserEntry]) {
        let versions = Set(entries.map(\.version))
        let now = MonotonicClock.now
        state.signal { state in
            if versions == state.versions, now < state.asked + Self.pace { return }
            (state.isWanted, state.versions, state.asked) = (true, versions, now)
            state.items = Dictionary(entries.map { (PathKey($0.path), $0.item) }) { first, _ in
                first
            }
        }
    }

    /// By the documents' numbers; nil if the mount does not say.
    ///
    /// - Parameter items: those numbers by the paths. What another container grants has one of its own in a
    ///   result.
    private static func titles(
        _ tree: BrowsedTree, _ point: String, _ items: [PathKey: UInt64]
    ) -> [UInt64: String]? {
        var query = Query()
        query.folder = tree.path.relative(to: point)
        query.types = Self.types
        // The folder itself may be.
        query.hidden = true
        // What has none comes last.
        query.order = .title
        query.limit = BrowsedTree.documentLimit
        guard let found = try? MetadataQuery.find(query, in: point) else { return nil }
        var titles: [UInt64: String] = [:]
        for result in found.results {
            guard let title = result.title, !title.isEmpty else { continue }
            let path = PathKey(result.path.relative(to: tree.path))
            // One that was renamed since has its number still.
            titles[items[path] ?? UInt64(result.item)] = title
        }
        return titles
    }
}
