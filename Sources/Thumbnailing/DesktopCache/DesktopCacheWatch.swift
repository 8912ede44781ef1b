internal import Glibc
package import SystemCalls

/// Tells that entries of a thumbnail cache were removed, as when the user empties it. Whose they were is not
/// told, nor who has removed them.
///
/// Any thread. Only ``follow()`` looks at the disk.
package final class DesktopCacheWatch: Sendable {
    private static let bits = Int(IN_DELETE) | Int(IN_DELETE_SELF) | Int(IN_MOVE_SELF)

    private let queue: Inotify
    /// The cache, and the folders of its sizes.
    private let folders: [String]
    /// Those above it: who moves one away takes the cache along, which is not told of that itself.
    private let above: [String]
    /// The folders that are watched by their watches.
    private let watched = Lock<[Int32: String]>([:])

    /// Watches nothing yet. EMFILE if the user has too many queues.
    package init(_ cache: DesktopCache) throws(Errno) {
        queue = try Inotify()
        folders =
            [cache.folder] + DesktopCache.Size.allCases.map { "\(cache.folder)/\($0.rawValue)" }
        above = sequence(first: cache.folder.parentPath, next: \.parentPath).prefix { $0 != "/" }
    }

    /// Watches the folders that are there by now, if they are not watched.
    package func follow() {
        let missing = watched.withLock { watched in
            (above + folders).filter { !watched.values.contains($0) }
        }
        for folder in missing {
            let bits = above.contains(folder) ? Int(IN_MOVE_SELF) : Self.bits
            guard let watch = try? queue.watch(folder, bits) else { continue }
            watched.withLock { $0[watch] = folder }
        }
    }

    /// Whether an entry was removed, or a folder with entries, since the last time. Does not wait.
    package func take() -> Bool {
        var waiting = pollfd(fd: queue.number, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&waiting, 1, 0) > 0 else { return false }
        var isLoss = false
        for event in queue.take() {
            if event.tellsLoss {
                isLoss = true
            } else if event.isAny(of: Int(IN_DELETE)) {
                // Not the files that entries are made in.
                if event.name.utf8.count == 36, event.name.hasSuffix(".png") { isLoss = true }
            } else if leave(event.watch) {
                isLoss = true
            }
        }
        return isLoss
    }

    /// A folder is gone, or elsewhere: the next one of its name is another. False if that is known.
    private func leave(_ watch: Int32) -> Bool {
        let left = watched.withLock { watched -> [Int32] in
            guard let folder = watched[watch] else { return [] }
            // What is in the folder of all, or in one above that, has gone with it.
            let isSize = folders.dropFirst().contains(folder)
            let left = isSize ? [watch] : Array(watched.keys)
            for watch in left { watched[watch] = nil }
            return left
        }
        for watch in left { queue.forget(watch) }
        return !left.isEmpty
    }
}
