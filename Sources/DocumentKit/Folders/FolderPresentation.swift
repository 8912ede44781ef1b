internal import CSystemShim
internal import Glibc
internal import PathText
internal import SystemCalls

/// Tells a presenter of an item outside of containers, or in the mount of another user, on a thread of its own,
/// until ``end()``, or until the mount goes away.
final class FolderPresentation: Sendable {
    private enum Told {
        case item(FollowedItem.Change)
        case below(SubitemChange)
    }

    /// Who finds out what happens.
    private struct Followers {
        /// All have it.
        var inotify: Inotify
        var item: FollowedItem
        /// Of a folder.
        var tree: FolderTree?
    }

    private struct State {
        /// `nil` from the end on.
        var followers: Followers?
        /// Where the item is, or was last.
        var path: String
        /// What was found out and not told.
        var untold: [Told] = []
        /// How many coordinators work on which paths on this presentation's behalf.
        var own: [PathKey: Int] = [:]
        /// A call of the presenter's is under way, or about to be.
        var isTelling = false
        var hasEnded = false
    }

    /// The descriptor of inotify, as long as there are followers.
    private let queue: Int32
    private let state: Monitor<State>
    private let bell: OwnedDescriptor

    /// How long what belongs together may take to arrive, in microseconds.
    private static let gathering: UInt32 = 5_000
    /// How long ``end()`` waits for the queue to be let go, in milliseconds.
    private static let parting: UInt64 = 1_000

    init(of place: ItemPlace, _ presenter: any FilePresenter) throws(CoordinationError) {
        let path = place.absolute
        do throws(Errno) {
            let inotify = try Inotify()
            queue = inotify.number
            bell = OwnedDescriptor(adopting: try check { shim_signal_descriptor() })
            let isFolder = FolderTree.Entry(path)?.isFolder ?? false
            let followers = Followers(
                inotify: inotify,
                item: try FollowedItem(path, inotify, isMounted: place.mountPoint != nil),
                tree: isFolder ? try FolderTree(path, inotify) : nil)
            state = Monitor(State(followers: followers, path: path))
        } catch {
            throw .unavailable(Inotify.problem(error, at: path))
        }
        Threads.start("presentation") { self.run(presenter) }
    }

    /// Where the item is now.
    var path: String { state.withLock { $0.path } }

    /// Whether it has not ended.
    var isTelling: Bool { state.withLock { !$0.hasEnded } }

    /// Tells nothing from now on. Returns when nothing is watched any more, as a user has few queues of inotify,
    /// unless a call of the presenter's is under way: that may be what ends it, or wait for who does.
    func end() {
        state.withLock { $0.hasEnded = true }
        ring()
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: Self.parting)) {
            $0.followers == nil || $0.isTelling ? true : nil
        }
    }

    private func ring() {
        var one: UInt64 = 1
        _ = write(bell.number, &one, 8)
    }

    /// Runs `body` and tells nothing of what happens meanwhile to the items at the paths.
    func leavingOut<Result>(_ paths: [String], _ body: () throws -> Result) rethrows -> Result {
        let paths = paths.map { PathKey($0) }
        state.withLock { state in
            // What happened before is others' doing.
            look(&state)
            for path in paths { state.own[path, default: 0] += 1 }
        }
        defer {
            state.withLock { state in
                look(&state)
                for path in paths {
                    state.own[path, default: 1] -= 1
                    if state.own[path] == 0 { state.own[path] = nil }
                }
            }
            ring()
        }
        return try body()
    }

    /// Takes what happened and finds out what it means.
    private func look(_ state: inout State) {
        guard var followers = state.followers else { return }
        defer { state.followers = followers }
        let events = followers.inotify.take()
        if followers.item.isUnmounted(events) { state.hasEnded = true }
        if state.hasEnded { return }
        for change in followers.item.follow(events) {
            state.path = followers.item.path
            if case .moved(let path) = change { followers.tree?.root = path }
            let isOwn = state.own[PathKey(state.path)] != nil
            switch change {
            case .deleted: followers.tree = nil
            case .changed where followers.tree == nil:
                // It is a folder from now on.
                if FolderTree.Entry(state.path)?.isFolder == true {
                    followers.tree = try? FolderTree(state.path, followers.inotify)
                }
            default: break
            }
            if !isOwn { state.untold.append(.item(change)) }
        }
        guard let tree = followers.tree else { return }
        for change in tree.follow(events) {
            let change = change.below(tree.root)
            if !change.paths.contains(where: { isOwn($0, state) }) {
                state.untold.append(.below(change))
            }
        }
    }

    private func isOwn(_ path: String, _ state: State) -> Bool {
        let path = PathKey(path)
        return state.own.keys.contains { path == $0 || path.isBelow($0) }
    }

    private func run(_ presenter: any FilePresenter) {
        while true {
            let isMissing = state.withLock { $0.followers?.item.missing != nil }
            var entries = [
                pollfd(fd: queue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0),
            ]
            poll(&entries, 2, isMissing ? Int32(FollowedItem.grace) : -1)
            if entries[1].revents != 0 {
                var count: UInt64 = 0
                _ = read(bell.number, &count, 8)
            }
            if entries[0].revents != 0, isTelling { usleep(Self.gathering) }
            let (untold, path, hasEnded) = state.withLock { state in
                look(&state)
                defer { state.untold = [] }
                state.isTelling = !state.untold.isEmpty
                return (state.untold, state.path, state.hasEnded)
            }
            if hasEnded { break }
            for told in untold where isTelling { Self.tell(presenter, told, path) }
            state.signal { $0.isTelling = false }
        }
        state.signal { $0.followers = nil }
        presenter.presentationEnded()
    }

    private static func tell(_ presenter: any FilePresenter, _ told: Told, _ path: String) {
        switch told {
        case .item(.changed): presenter.itemChanged()
        case .item(.moved(let path)): presenter.itemMoved(to: path)
        case .item(.deleted): presenter.itemDeleted()
        case .below(let change): presenter.subitemChanged(change)
        }
    }
}

extension SubitemChange {
    /// The same with paths below a folder made absolute.
    fileprivate func below(_ folder: String) -> SubitemChange {
        func absolute(_ path: String) -> String { folder + "/" + path }
        switch self {
        case .appeared(let path): return .appeared(absolute(path))
        case .changed(let path): return .changed(absolute(path))
        case .moved(let path, let target): return .moved(absolute(path), to: absolute(target))
        case .deleted(let path): return .deleted(absolute(path))
        }
    }

    /// Whom it is about.
    fileprivate var paths: [String] {
        switch self {
        case .appeared(let path), .changed(let path), .deleted(let path): [path]
        case .moved(let path, let target): [path, target]
        }
    }
}
