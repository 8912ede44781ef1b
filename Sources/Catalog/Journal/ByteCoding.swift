/// Appends values in the journal's form: integers in 7-bit groups, byte strings with their length.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(256) }

    /// Goes on behind `bytes`.
    init(after bytes: consuming [UInt8]) { self.bytes = bytes }

    mutating func put(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func put(_ value: UInt32) { put(UInt64(value)) }
    mutating func put(_ value: Int64) { put(UInt64(bitPattern: value << 1 ^ value >> 63)) }
    mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }
    mutating func put(_ value: UInt8) { bytes.append(value) }

    mutating func put(_ value: [UInt8]) {
        put(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Eight bytes, lowest first: for values whose high bits are set, which 7-bit groups lengthen.
    mutating func putFixed(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Replaces four bytes, lowest first.
    mutating func set(_ value: UInt32, at place: Int) {
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: value.littleEndian, toByteOffset: place, as: UInt32.self)
        }
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

/// CRC-32 (IEEE 802.3), so that a record cut off by a power loss is recognised.
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1
        }
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            ~bytes.reduce(~UInt32(0)) { value, byte in
                table[Int((value ^ UInt32(byte)) & 0xff)] ^ value >> 8
            }
        }
    }
}
