internal import Model

/// The bytes of names and symlink targets, in cells of 8 bytes, NUL at the end.
struct ByteHeap: ~Copyable {
    private let cells: ReservedArray<UInt64>
    private var used: UInt32 = 1
    /// First free run of each length in cells; a free run's first cell holds the next one.
    private var free: [UInt32]
    /// The longest run: a symlink target of 4,095 bytes and its NUL.
    private static let longest = 512

    init(capacity: Int) throws(Failure) {
        cells = try ReservedArray(capacity: capacity)
        free = [UInt32](repeating: 0, count: Self.longest + 1)
    }

    private static func count(_ length: Int) -> Int { length / 8 + 1 }

    /// Whether a name and a target of so many bytes have room, and `spare` further bytes.
    func hasRoom(name: Int?, target: Int?, spare: Int = 0) -> Bool {
        let name = name.map(Self.count) ?? 0
        var wanted = Self.count(spare) + (free[name] == 0 ? name : 0)
        // One that is too long is damage, and is not kept.
        if let target = target.map({ min(Self.count($0), Self.longest) }),
            free[target] == 0 || target == name
        {
            wanted += target
        }
        return Int(used) + wanted <= cells.capacity
    }

    mutating func store(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let count = Self.count(bytes.count)
        var place = free[count]
        if place != 0 {
            free[count] = UInt32(truncatingIfNeeded: cells[place].pointee)
        } else {
            place = used
            used += UInt32(count)
        }
        let target = UnsafeMutableRawPointer(cells[place])
        if let source = bytes.baseAddress {
            target.copyMemory(from: source, byteCount: bytes.count)
        }
        target.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
        return place
    }

    mutating func remove(_ place: UInt32, length: Int) {
        let count = Self.count(length)
        cells[place].pointee = UInt64(free[count])
        free[count] = place
    }

    @inline(__always)
    func pointer(_ place: UInt32) -> UnsafeRawPointer { UnsafeRawPointer(cells[place]) }
}
