internal import Coordination
internal import PathText
internal import SystemCalls
internal import Thumbnailing

// What earlier mounts have left in the cache: after an unclean end the notes of what went before it are lost, and
// a mount at another place says nothing of the entries at this one.
extension DesktopEntries {
    /// Paths that wait to be looked at.
    private static let strayLimit = 1_024

    /// Looks for entries that show what is not there, on a thread of its own: the cache may be large, and most of
    /// it others'.
    func removeLeftovers() {
        let places = DesktopPlaces(volume.container.folder)
        let isRecovered = volume.container.recovered != nil
        guard let wrong = places.begin(at: mountPoints, isRecovered: isRecovered) else { return }
        let folders = wrong.map { ($0 + "/").pathBytes }
        state.withLock { $0.isSearching = true }
        Threads.start("desktop search", yielding: true, keeping: volume) { [self] in
            let goesOn = { [state] in !state.withLock { $0.ended } }
            cache.search(forVersionsWith: volume.container.name + "/", while: goesOn) { path in
                if folders.contains(where: { path.starts(with: $0) }), isStray(path) { note(path) }
            }
            state.signal { state in
                state.isSearching = false
                state.isSearched = !state.ended
            }
        }
    }

    /// Has a path looked at when there is nothing else to do.
    private func note(_ path: [UInt8]) {
        while state.withLock({ !$0.ended && $0.strays.count >= Self.strayLimit }) {
            let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 20)) {
                $0.ended ? true : nil
            }
        }
        state.signal { if !$0.ended { $0.strays.append(path) } }
    }

    /// Whether an absolute path that has entries is none of a document, or of a link to one, in this mount.
    func isStray(_ path: [UInt8]) -> Bool {
        let points = mountPoints.map { ($0 + "/").pathBytes }
        guard let point = points.first(where: { path.starts(with: $0) }) else { return true }
        let rest = Array(path.dropFirst(point.count))
        return occupant(of: rest) == nil && !state.withLock { $0.links.contains(rest) }
    }
}
