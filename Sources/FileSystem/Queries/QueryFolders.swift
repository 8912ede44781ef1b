internal import Coordination
internal import Model
internal import PathText
internal import SystemCalls

/// A name that came or went in `.shapeedit/queries`: the folder of a query, or a link in one.
struct QueryEntry: Sendable {
    /// Whose folder the name is in; nil for the name of a query.
    var query: PathKey?
    var name: String
    /// What it leads to, or led to.
    var node: VirtualNode
    var isGone: Bool

    var isFolder: Bool { query == nil }
    /// Below the root.
    var path: [UInt8] { "\(query.map(Self.folder) ?? Self.top)/\(name)".pathBytes }

    private static let top = ".shapeedit/queries"
    static func folder(_ query: PathKey) -> String { "\(top)/\(query.text)" }
}

/// The folders of saved queries: a live query each, as long as the kernel knows the folder. Only then can
/// somebody watch it; who does is told of what comes and goes in it, by repeating it on the mount
/// (``Replayer``).
///
/// Any thread.
final class QueryFolders: Sendable {
    /// How often a folder is followed again that others have ended before it was looked at.
    private static let attempts = 16

    private let followed = Lock<[PathKey: FollowedFolder]>([:])
    private let queries: LiveQueries
    private let isWatchable: @Sendable () -> Bool
    private unowned let volume: Volume

    /// - Parameters:
    ///   - known: the queries whose folders the kernel knows.
    ///   - isWatchable: whether it knows the folder that they are in.
    init(
        _ volume: Volume, _ queries: LiveQueries, known: @escaping @Sendable () -> Set<PathKey>,
        isWatchable: @escaping @Sendable () -> Bool
    ) {
        self.volume = volume
        self.queries = queries
        self.isWatchable = isWatchable
        queries.setTidy { [weak self] in self?.keep(known()) }
    }

    /// A folder was looked up.
    func begin(_ name: String, _ query: Query) { _ = follow(name, query) }

    /// The folder as of now; `nil` if there are too many queries.
    func folder(_ name: String, _ query: Query) -> QueryFolder? {
        // Who follows the same folder at the same time, or has saved another query of that name, ends it.
        for _ in 0..<Self.attempts {
            guard let followed = follow(name, query) else { return nil }
            queries.settle()
            // It still has what it had before.
            if followed.hasEnded { return nil }
            if let folder = followed.folder { return folder }
        }
        return nil
    }

    /// A query was saved or forgotten.
    func changed(_ name: String, _ query: Query?) {
        guard let before = followed.withLock({ $0[PathKey(name)] }), before.query != query else {
            return
        }
        guard let query else { return end([PathKey(name)]) }
        volume.whenAsked(query) { [weak self] in self?.begin(name, query) }
    }

    /// A query got a name, or lost it, otherwise than by rmdir(2): who watches the names is told.
    func announce(_ name: String, isGone: Bool) {
        guard isWatchable() else { return }
        volume.replayer?.add([
            QueryEntry(query: nil, name: name, node: .query(PathKey(name)), isGone: isGone)
        ])
    }

    private func follow(_ text: String, _ query: Query) -> FollowedFolder? {
        let name = PathKey(text)
        let (known, before) = followed.withLock { state -> (FollowedFolder?, FollowedFolder?) in
            let known = state[name]
            if known?.query == query, known?.hasEnded == false { return (known, nil) }
            return (nil, state.removeValue(forKey: name))
        }
        if let known { return known }
        if let id = before?.id { queries.end(id) }
        // Goes on from what is known to those who watch.
        let made = FollowedFolder(name, query, volume, after: before?.folder)
        guard let id = queries.follow(query, isLenient: true, made) else { return nil }
        made.id = id
        let other = followed.withLock { $0.updateValue(made, forKey: name) }
        if let other = other?.id { queries.end(other) }
        return made
    }

    /// Folders that the kernel does not know any more are not followed.
    private func keep(_ known: Set<PathKey>) {
        end(followed.withLock { $0.keys.filter { !known.contains($0) } })
    }

    private func end(_ names: [PathKey]) {
        let ended = followed.withLock { state in
            names.compactMap { state.removeValue(forKey: $0)?.id }
        }
        for id in ended { queries.end(id) }
    }
}

/// The folder of a saved query that is followed.
private final class FollowedFolder: QueryFollower, @unchecked Sendable {
    // Unchecked because `id` is set once, before others see it.

    /// A folder in which more has changed at once is told of as a whole.
    private static let most = 500

    private struct State {
        var folder: QueryFolder?
        var hasEnded = false
    }
    let query: Query
    var id: LiveQueryID?
    private let name: PathKey
    private let state: Lock<State>
    private unowned let volume: Volume

    init(_ name: PathKey, _ query: Query, _ volume: Volume, after before: QueryFolder?) {
        self.name = name
        self.query = query
        self.volume = volume
        state = Lock(State(folder: before))
    }

    /// What was told last.
    var folder: QueryFolder? { state.withLock { $0.folder } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func take(_ news: QueryNews) {
        let change = state.withLock { state -> QueryFolder.Change? in
            switch news {
            case .gathered(let results, problem: _):
                let folder = QueryFolder(results)
                defer { state.folder = folder }
                return state.folder?.change(to: folder)
            case .changed(let batch): return state.folder?.follow(batch)
            case .ended:
                state.hasEnded = true
                return nil
            }
        }
        if let change { tell(change.gone, change.came) }
    }

    private func tell(_ gone: [QueryFolder.Link], _ came: [QueryFolder.Link]) {
        guard let replayer = volume.replayer, !gone.isEmpty || !came.isEmpty else { return }
        guard gone.count + came.count <= Self.most else {
            replayer.add(path: QueryEntry.folder(name).pathBytes)
            return
        }
        replayer.add(
            gone.map { QueryEntry(query: name, name: $0.0, node: $0.1, isGone: true) }
                + came.map { QueryEntry(query: name, name: $0.0, node: $0.1, isGone: false) })
    }
}
