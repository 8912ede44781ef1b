internal import Glibc
package import SystemCalls

/// Follows what happens in a thumbnail cache: whether entries were removed, as when the user empties it, and which
/// files may have entries, so that who removes those of many files, of which most have none, does not ask the
/// disk four times for each. Who has made or removed an entry is not told.
///
/// Any thread. Only ``follow()`` and ``mayHave(_:)`` look at the disk, and are for one thread.
package final class DesktopCacheWatch: Sendable {
    private static let bits =
        Int(IN_CREATE) | Int(IN_MOVED_TO) | Int(IN_MOVED_FROM) | Int(IN_DELETE)
        | Int(IN_DELETE_SELF) | Int(IN_MOVE_SELF)

    private struct State {
        /// The folders that are watched by their watches.
        var watched: [Int32: String] = [:]
        /// What is in those of the sizes.
        var names: [Int32: EntryNames] = [:]
        /// Whether there may be folders that are not watched.
        var isBehind = true
        /// Whether entries were removed since that was asked last.
        var isLoss = false

        func isWatched(_ folder: String) -> Bool { watched.values.contains(folder) }

        mutating func forget(_ watch: Int32) {
            watched[watch] = nil
            names[watch] = nil
            isBehind = true
        }
    }

    private let queue: Inotify
    private let folder: String
    private let sizes: [String]
    /// Those above it: who moves one away takes the cache along, which is not told of that itself.
    private let above: [String]
    private let state = Lock(State())

    /// Watches nothing yet. EMFILE if the user has too many queues.
    package init(_ cache: DesktopCache) throws(Errno) {
        queue = try Inotify()
        folder = cache.folder
        sizes = DesktopCache.Size.allCases.map { "\(cache.folder)/\($0.rawValue)" }
        above = sequence(first: cache.folder.parentPath, next: \.parentPath).prefix { $0 != "/" }
    }

    /// Watches the folders that are there by now, if they are not watched.
    package func follow() {
        guard state.withLock({ $0.isBehind }) else { return }
        for folder in above { watch(folder, Int(IN_MOVE_SELF)) }
        guard watch(folder, Self.bits) else { return }
        // From here on it is told when there is another one.
        state.withLock { $0.isBehind = false }
        for size in sizes { watch(size, Self.bits) }
    }

    /// Whether a folder is watched now.
    @discardableResult
    private func watch(_ place: String, _ bits: Int) -> Bool {
        if state.withLock({ $0.isWatched(place) }) { return true }
        let isSize = sizes.contains(place)
        do throws(Errno) {
            // What happens from now on is noted before the folder is listed.
            try state.withLock { (state) throws(Errno) in
                let watch = try queue.watch(place, bits)
                state.watched[watch] = place
                if isSize { state.names[watch] = EntryNames() }
            }
            if isSize { try list(place) }
            return true
        } catch {
            if isSize, error.code != ENOENT { state.withLock { $0.isBehind = true } }
            return false
        }
    }

    private func list(_ size: String) throws(Errno) {
        let found = try EntryNames.listing(size)
        state.withLock { state in
            for (watch, place) in state.watched where place == size {
                state.names[watch]?.list(found)
            }
        }
    }

    /// Whether there may be entries of that name.
    package func mayHave(_ name: String) -> Bool {
        read()
        follow()
        return state.withLock { state in
            if !state.isWatched(folder) {
                return access(folder.cPath, F_OK) == 0 || Errno.last.code != ENOENT
            }
            return state.isBehind || state.names.values.contains { $0.mayHave(name) }
        }
    }

    /// Whether an entry was removed, or a folder with entries, since the last time. Does not wait.
    package func take() -> Bool {
        read()
        return state.withLock { state in
            defer { state.isLoss = false }
            return state.isLoss
        }
    }

    /// Notes what has happened.
    private func read() {
        state.withLock { state in
            var waiting = pollfd(fd: queue.number, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&waiting, 1, 0) > 0 else { return }
            for event in queue.take() { note(event, &state) }
        }
    }

    private func note(_ event: Inotify.Event, _ state: inout State) {
        let isGone = event.isAny(of: Int(IN_DELETE), Int(IN_MOVED_FROM))
        if event.tellsLoss {
            // What there is now has to be looked at.
            for watch in state.watched.keys { leave(watch, &state) }
            state.isLoss = true
        } else if isGone || event.isAny(of: Int(IN_CREATE), Int(IN_MOVED_TO)) {
            state.names[event.watch]?.note(event.name, isThere: !isGone)
            if state.watched[event.watch] == folder { state.isBehind = true }
            // Not the files that entries are made in.
            if event.isAny(of: Int(IN_DELETE)), EntryNames.isEntry(event.name) {
                state.isLoss = true
            }
        } else if let place = state.watched[event.watch] {
            // A folder is gone, or elsewhere: the next one of its name is another. What is in the folder of all,
            // or in one above that, has gone with it.
            let left = sizes.contains(place) ? [event.watch] : Array(state.watched.keys)
            for watch in left { leave(watch, &state) }
            state.isLoss = true
        }
    }

    private func leave(_ watch: Int32, _ state: inout State) {
        state.forget(watch)
        queue.forget(watch)
    }
}
