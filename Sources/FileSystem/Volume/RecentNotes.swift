internal import Catalog
internal import Model

/// What was noted of items in the last seconds; the oldest go first. All of the last
/// ``IdentityTunnel/lifetime`` stay, as long as they are no more than ``capacity``.
///
/// Notes are kept in two generations, so that forgetting costs nothing. Pure: no clock, no threads.
struct RecentNotes<Note> {
    /// So many stay, however fast they come; at most twice as many are kept.
    static var capacity: Int { 16_384 }

    private var young: [ItemNumber: Note] = [:]
    private var old: [ItemNumber: Note] = [:]
    /// When the first of the young ones was noted.
    private var began: Timestamp?

    var count: Int { young.count + old.count }

    subscript(item: ItemNumber) -> Note? { young[item] ?? old[item] }

    /// - Parameter time: of the note, by the clock that may be set.
    mutating func note(_ note: Note, of item: ItemNumber, at time: Timestamp) {
        let isPast = began.map { abs(time.secondsSince($0)) > IdentityTunnel.lifetime } ?? true
        if isPast || young.count >= Self.capacity {
            old = young
            young = [:]
            began = time
        }
        // An item is in one of them only.
        if !old.isEmpty { old[item] = nil }
        young[item] = note
    }

    @discardableResult
    mutating func remove(_ item: ItemNumber) -> Note? {
        young.removeValue(forKey: item) ?? old.removeValue(forKey: item)
    }
}
