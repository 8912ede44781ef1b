/// A hash table of record numbers with open addressing; the keys live in the records.
///
/// Never fuller than three quarters. Removal shifts what follows back, so there are no tombstones.
struct ProbeTable: ~Copyable {
    private var slots: UnsafeMutablePointer<UInt32>
    private var mask: UInt32
    private(set) var count = 0

    init(capacity: Int = 1024) {
        mask = UInt32(capacity - 1)
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: 0, count: capacity)
    }

    deinit { slots.deallocate() }

    /// Makes an empty table large enough for `count` records.
    mutating func reserve(_ wanted: Int) {
        precondition(count == 0)
        var capacity = Int(mask) + 1
        while wanted * 4 > capacity * 3 { capacity *= 2 }
        slots.deallocate()
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: 0, count: capacity)
        mask = UInt32(capacity - 1)
    }

    /// The first record with `hash` for which `matches` holds; 0 if there is none.
    @inline(__always)
    func find(hash: UInt32, _ matches: (UInt32) -> Bool) -> UInt32 {
        var position = hash & mask
        while true {
            let record = slots[Int(position)]
            if record == 0 || matches(record) { return record }
            position = (position &+ 1) & mask
        }
    }

    /// - Parameter hashOf: the hash of a record that is already in the table.
    mutating func insert(_ record: UInt32, hash: UInt32, hashOf: (UInt32) -> UInt32) {
        if (count + 1) * 4 > Int(mask + 1) * 3 { grow(hashOf: hashOf) }
        place(record, hash: hash)
        count += 1
    }

    mutating func remove(_ record: UInt32, hash: UInt32, hashOf: (UInt32) -> UInt32) {
        var hole = hash & mask
        while slots[Int(hole)] != record {
            if slots[Int(hole)] == 0 { return }
            hole = (hole &+ 1) & mask
        }
        count -= 1
        var position = hole
        while true {
            position = (position &+ 1) & mask
            let candidate = slots[Int(position)]
            if candidate == 0 { break }
            let home = hashOf(candidate) & mask
            // Move it back unless its home lies behind the hole.
            if (position &- home) & mask >= (position &- hole) & mask {
                slots[Int(hole)] = candidate
                hole = position
            }
        }
        slots[Int(hole)] = 0
    }

    private func place(_ record: UInt32, hash: UInt32) {
        var position = hash & mask
        while slots[Int(position)] != 0 { position = (position &+ 1) & mask }
        slots[Int(position)] = record
    }

    private mutating func grow(hashOf: (UInt32) -> UInt32) {
        let old = slots
        let oldCount = Int(mask) + 1
        slots = .allocate(capacity: oldCount * 2)
        slots.initialize(repeating: 0, count: oldCount * 2)
        mask = UInt32(oldCount * 2 - 1)
        for index in 0..<oldCount where old[index] != 0 {
            place(old[index], hash: hashOf(old[index]))
        }
        old.deallocate()
    }
}
