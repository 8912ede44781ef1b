/// Places that contents come from: each has so many pieces on their way that who waits for one place does
/// not wait behind another.
extension Downloads {
    /// Where a content comes from.
    package struct Place: Sendable {
        /// Of the store or source, for people.
        package var address: String
        /// When it gave something last, of ``MonotonicClock``.
        package var gaveAt: UInt64

        package init(address: String, gaveAt: UInt64) {
            self.address = address
            self.gaveAt = gaveAt
        }
    }

    /// Whether one more piece may come from the place.
    static func hasRoom(_ place: String, _ state: State) -> Bool {
        state.runningFrom[place, default: 0] < workers
    }

    /// A piece begins to come from the place.
    static func count(_ piece: Piece, at place: String, _ state: inout State) {
        piece.place = place
        state.runningFrom[place, default: 0] += 1
    }

    /// A piece is not on its way any more; whether others of its place waited for that.
    @discardableResult
    static func remove(_ piece: Piece, of download: Download, _ state: inout State) -> Bool {
        for block in piece.next..<max(piece.end, piece.next) { download.busy.remove(block) }
        download.pieces.removeAll { $0 === piece }
        state.running -= 1
        guard let place = piece.place else { return false }
        let wasFull = !hasRoom(place, state)
        let left = state.runningFrom[place, default: 1] - 1
        state.runningFrom[place] = left > 0 ? left : nil
        return wasFull
    }
}
