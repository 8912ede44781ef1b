/// Appends values in the journal's form: integers in 7-bit groups, byte strings with their length.
///
/// Into memory of its own, not an array: every change of every file goes through here, byte by byte.
struct ByteWriter: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    /// Bytes written.
    private(set) var count = 0

    init(capacity: Int = 1 << 10) {
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { memory.deallocate() }

    /// Lends what was written from `start` on.
    func withBytes<Result, Problem>(
        from start: Int = 0, _ body: (UnsafeRawBufferPointer) throws(Problem) -> Result
    ) throws(Problem) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory[start..<count]))
    }

    private mutating func makeRoom(for more: Int) {
        if memory.count - count >= more { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(memory.count * 2, count + more), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }

    mutating func put(_ value: UInt64) {
        makeRoom(for: 10)
        var rest = value
        while rest >= 0x80 {
            memory[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count += 1
            rest >>= 7
        }
        memory[count] = UInt8(truncatingIfNeeded: rest)
        count += 1
    }

    mutating func put(_ value: UInt32) { put(UInt64(value)) }
    mutating func put(_ value: Int64) { put(UInt64(bitPattern: value << 1 ^ value >> 63)) }
    mutating func put(_ value: Bool) { put(value ? 1 : 0 as UInt8) }

    mutating func put(_ value: UInt8) {
        makeRoom(for: 1)
        memory[count] = value
        count += 1
    }

    mutating func put(_ value: [UInt8]) {
        put(UInt64(value.count))
        makeRoom(for: value.count)
        value.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: $0)
        }
        count += value.count
    }

    /// Eight bytes, lowest first: for values whose high bits are set, which 7-bit groups lengthen.
    mutating func putFixed(_ value: UInt64) {
        makeRoom(for: 8)
        memory.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    /// Replaces four bytes, lowest first.
    mutating func set(_ value: UInt32, at place: Int) {
        memory.storeBytes(of: value.littleEndian, toByteOffset: place, as: UInt32.self)
    }
}

/// Reads what ``ByteWriter`` wrote; throws ``Malformed`` instead of reading past the end.
struct ByteReader {
    struct Malformed: Error {}

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    mutating func byte() throws(Malformed) -> UInt8 {
        guard position < bytes.endIndex else { throw Malformed() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func unsigned() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte()
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return value }
        }
        throw Malformed()
    }

    mutating func unsigned32() throws(Malformed) -> UInt32 {
        guard let value = UInt32(exactly: try unsigned()) else { throw Malformed() }
        return value
    }

    mutating func signed() throws(Malformed) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func bool() throws(Malformed) -> Bool { try byte() != 0 }

    mutating func string() throws(Malformed) -> [UInt8] {
        let count = try unsigned()
        guard count <= UInt64(bytes.endIndex - position) else { throw Malformed() }
        defer { position += Int(count) }
        return Array(bytes[position..<position + Int(count)])
    }

    mutating func fixed() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            value |= UInt64(try byte()) << shift
        }
        return value
    }
}
